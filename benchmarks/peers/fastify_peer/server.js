import { build } from "./app.js";
import { settings } from "./settings.js";

const kind = settings.database.startsWith("postgresql://") ? "postgresql" : "sqlite";
const { open } = await import(`./stores/${kind}.js`);
const store = await open(settings);
const app = build(store);
app.addHook("onClose", () => store.close());
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => app.close().then(() => process.exit(0)));
}
await app.listen({ host: settings.host, port: settings.port });
