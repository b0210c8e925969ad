import { verify } from "@octokit/webhooks-methods";
import Fastify from "fastify";

import { readPush, whyFiltered } from "./event.js";

const MAX_BODY = 25 * 1024 * 1024;

// Serializers are compiled from these, which is Fastify's way to be fast.
const text = { type: "string" };
const commit = {
  type: "object",
  properties: {
    id: text,
    message: text,
    author: { type: "object", properties: { name: text, email: text, username: text } },
    timestamp: text,
    url: text,
  },
};
const received = {
  type: "object",
  properties: {
    received: { type: "boolean" },
    message: text,
    data: {
      type: "object",
      properties: {
        event: text,
        delivery: text,
        action: text,
        filtered: { type: "boolean" },
        ignored: { type: "boolean" },
        duplicate: { type: "boolean" },
        processed: {
          type: "object",
          properties: {
            type: text,
            action: text,
            data: {
              type: "object",
              properties: {
                ref: text,
                branch: text,
                commits: { type: "array", items: commit },
                headCommit: { type: "object", nullable: true, properties: { id: text, message: text } },
              },
            },
          },
        },
        repository: { type: "object", properties: { id: { type: "integer" }, fullName: text } },
      },
    },
  },
};

const answer = (message, data) => ({ received: true, message, data });

export function build(store) {
  const app = Fastify({ logger: false, bodyLimit: MAX_BODY });
  // The signature is over the bytes as they came.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.get("/ready", async () => ({ status: "ready" }));
  app.post(
    "/api/webhooks/:provider/:organizationId/:integrationId/:repositoryId",
    { schema: { response: { 200: received } } },
    async (request, reply) => {
      const repositoryId = Number(request.params.repositoryId);
      const address = { ...request.params, repositoryId };
      const endpoint = await store.endpoint(address);
      if (!endpoint) return reply.code(404).send({ error: "Integration not found" });
      const { headers } = request;
      const body = request.body.toString("utf8");
      const kind = headers["x-host-event"];
      const delivery = headers["x-host-delivery"];
      const log = { ...address, delivery: delivery ?? null, status: "success", statusCode: 200, error: null };
      const refuse = async (code, error) => {
        await store.log({ ...log, title: error, status: "failed", statusCode: code, error });
        return reply.code(code).send({ error });
      };
      const signature = headers["x-hub-signature-256"];
      let genuine = false;
      // Every secret is tried, so that the time taken does not tell which one was right.
      for (const secret of signature ? endpoint.secrets : []) {
        genuine = (await verify(secret, body, signature)) || genuine;
      }
      if (!genuine) return refuse(401, "Invalid webhook signature");
      if (!endpoint.enabled) return refuse(403, "Integration is disabled");
      if (!endpoint.ours) return refuse(403, "Repository does not belong to this integration");
      if (!kind || !delivery) return refuse(400, "Missing webhook header");
      const duplicate = { title: `Duplicate ${kind} delivery`, answer: "Webhook already processed (duplicate delivery)" };
      const told = { event: kind, delivery };
      const checked = async (title, message, more) =>
        (await store.logUnlessClaimed({ ...log, title }, { ...log, title: duplicate.title }))
          ? answer(message, { ...told, ...more })
          : answer(duplicate.answer, { ...told, duplicate: true });
      if (kind !== "push") {
        return checked(`Ignored ${kind} event`, `Event type '${kind}' is not supported`, { ignored: true });
      }
      let push;
      try {
        push = readPush(body);
      } catch {
        push = null;
      }
      if (!push) return refuse(400, "Invalid payload");
      if (push.repositoryId !== repositoryId) return refuse(403, "Repository mismatch");
      if (whyFiltered(push)) {
        const message = "Event 'push' with action 'pushed' was filtered out";
        return checked("Filtered push event", message, { action: "pushed", filtered: true });
      }
      const matching = endpoint.triggers.filter(
        (trigger) =>
          trigger.enabled &&
          trigger.repositoryIds.includes(repositoryId) &&
          (!trigger.eventTypes.length || trigger.eventTypes.includes(kind)),
      );
      const won = await store.settle({
        log: { ...log, title: "Processed push event" },
        duplicateLog: { ...log, title: duplicate.title },
        data: JSON.stringify(push.data),
        triggerIds: matching.map((trigger) => trigger.id),
      });
      if (!won) return answer(duplicate.answer, { ...told, duplicate: true });
      return answer("Processed push event (pushed)", {
        ...told,
        processed: { type: "push", action: "pushed", data: push.data },
        repository: { id: repositoryId, fullName: push.repository },
      });
    },
  );
  return app;
}
