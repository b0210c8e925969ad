// Everything comes from the environment: ../../README.md says what.
const need = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
};

export const settings = {
  host: need("HOST"),
  port: Number(need("PORT")),
  database: need("DATABASE"),
  provider: "codehost",
  organizationId: need("ORGANIZATION"),
  integrationId: need("INTEGRATION"),
  repository: need("REPOSITORY"),
  repositoryId: Number(need("REPOSITORY_ID")),
  secret: need("SECRET"),
  triggerId: need("TRIGGER"),
};
