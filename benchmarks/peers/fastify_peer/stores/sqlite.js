import Database from "better-sqlite3";

const WINDOW_MS = 86_400_000;

const SCHEMA = `
CREATE TABLE IF NOT EXISTS integrations (
  id TEXT PRIMARY KEY, organization_id TEXT NOT NULL, provider TEXT NOT NULL, enabled INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS repositories (
  organization_id TEXT NOT NULL, provider TEXT NOT NULL, repository_id INTEGER NOT NULL,
  integration_id TEXT NOT NULL REFERENCES integrations (id), full_name TEXT NOT NULL,
  PRIMARY KEY (organization_id, provider, repository_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS webhook_secrets (
  id INTEGER PRIMARY KEY, integration_id TEXT NOT NULL REFERENCES integrations (id), secret TEXT NOT NULL,
  expires_at INTEGER
);
CREATE INDEX IF NOT EXISTS ix_webhook_secrets ON webhook_secrets (integration_id);
CREATE TABLE IF NOT EXISTS triggers (
  id TEXT PRIMARY KEY, organization_id TEXT NOT NULL, provider TEXT NOT NULL, enabled INTEGER NOT NULL,
  repository_ids TEXT NOT NULL, event_types TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ix_triggers ON triggers (organization_id, provider);
CREATE TABLE IF NOT EXISTS claims (
  integration_id TEXT NOT NULL, repository_id INTEGER NOT NULL, delivery_id TEXT NOT NULL, claimed_at INTEGER NOT NULL,
  PRIMARY KEY (integration_id, repository_id, delivery_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ix_claims ON claims (claimed_at);
CREATE TABLE IF NOT EXISTS context_records (
  id INTEGER PRIMARY KEY, organization_id TEXT NOT NULL, repository_id INTEGER NOT NULL, delivery_id TEXT NOT NULL,
  type TEXT NOT NULL, data TEXT NOT NULL, created_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_context_records ON context_records (organization_id, created_at);
CREATE TABLE IF NOT EXISTS workflow_runs (
  id INTEGER PRIMARY KEY, organization_id TEXT NOT NULL, trigger_id TEXT NOT NULL,
  context_id INTEGER NOT NULL REFERENCES context_records (id), status TEXT NOT NULL, created_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_workflow_runs ON workflow_runs (organization_id, created_at) WHERE status = 'pending';
CREATE TABLE IF NOT EXISTS log_entries (
  id INTEGER PRIMARY KEY, organization_id TEXT NOT NULL, integration_id TEXT NOT NULL, repository_id INTEGER NOT NULL,
  reference_id TEXT, title TEXT NOT NULL, status TEXT NOT NULL, status_code INTEGER NOT NULL, error_message TEXT,
  context_id INTEGER REFERENCES context_records (id), created_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_log_entries ON log_entries (organization_id, created_at);
`;

export function open(settings) {
  const database = new Database(settings.database, { timeout: 10_000 });
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.pragma("foreign_keys = ON");
  database.exec(SCHEMA);
  seed(database, settings);

  const integration = database.prepare(`
    SELECT i.enabled, r.integration_id AS owner FROM integrations i
    LEFT JOIN repositories r
      ON r.organization_id = i.organization_id AND r.provider = i.provider AND r.repository_id = @repositoryId
    WHERE i.id = @integrationId AND i.organization_id = @organizationId AND i.provider = @provider`);
  const secrets = database
    .prepare("SELECT secret FROM webhook_secrets WHERE integration_id = ? AND (expires_at IS NULL OR expires_at > ?)")
    .pluck();
  const triggers = database.prepare("SELECT * FROM triggers WHERE organization_id = ? AND provider = ?");
  const held = database
    .prepare(`SELECT 1 FROM claims
      WHERE integration_id = ? AND repository_id = ? AND delivery_id = ? AND claimed_at > ?`)
    .pluck();
  const take = database.prepare(`
    INSERT INTO claims (integration_id, repository_id, delivery_id, claimed_at) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET claimed_at = excluded.claimed_at WHERE claims.claimed_at <= excluded.claimed_at - ${WINDOW_MS}`);
  const addContext = database.prepare(`
    INSERT INTO context_records (organization_id, repository_id, delivery_id, type, data, created_at)
    VALUES (?, ?, ?, 'push', ?, ?)`);
  const addRun = database.prepare(`
    INSERT INTO workflow_runs (organization_id, trigger_id, context_id, status, created_at)
    VALUES (?, ?, ?, 'pending', ?)`);
  const addLog = database.prepare(`
    INSERT INTO log_entries (organization_id, integration_id, repository_id, reference_id, title, status, status_code,
      error_message, context_id, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);

  const write = (log, contextId, now) =>
    addLog.run(
      log.organizationId, log.integrationId, log.repositoryId, log.delivery, log.title, log.status, log.statusCode,
      log.error, contextId, now,
    );
  const settle = database.transaction(({ log, duplicateLog, data, triggerIds }) => {
    const now = Date.now();
    if (!take.run(log.integrationId, log.repositoryId, log.delivery, now).changes) {
      write(duplicateLog, null, now);
      return false;
    }
    const context = addContext.run(log.organizationId, log.repositoryId, log.delivery, data, now).lastInsertRowid;
    for (const id of triggerIds) addRun.run(log.organizationId, id, context, now);
    write(log, context, now);
    return true;
  }).immediate;
  const logUnlessClaimed = database.transaction((log, duplicateLog) => {
    const now = Date.now();
    const free = !held.get(log.integrationId, log.repositoryId, log.delivery, now - WINDOW_MS);
    write(free ? log : duplicateLog, null, now);
    return free;
  }).immediate;

  return {
    endpoint(address) {
      const found = integration.get(address);
      if (!found) return null;
      return {
        enabled: found.enabled === 1,
        ours: found.owner === address.integrationId,
        secrets: secrets.all(address.integrationId, Date.now()),
        triggers: triggers.all(address.organizationId, address.provider).map((row) => ({
          id: row.id,
          enabled: row.enabled === 1,
          repositoryIds: JSON.parse(row.repository_ids),
          eventTypes: JSON.parse(row.event_types),
        })),
      };
    },
    settle,
    logUnlessClaimed,
    log: (log) => write(log, null, Date.now()),
    close: () => database.close(),
  };
}

function seed(database, { provider, organizationId, integrationId, repository, repositoryId, secret, triggerId }) {
  const insert = (table, ...values) =>
    database.prepare(`INSERT OR IGNORE INTO ${table} VALUES (${values.map(() => "?").join(", ")})`).run(...values);
  insert("integrations", integrationId, organizationId, provider, 1);
  insert("repositories", organizationId, provider, repositoryId, integrationId, repository);
  insert("webhook_secrets", 1, integrationId, secret, null);
  insert("triggers", triggerId, organizationId, provider, 1, JSON.stringify([repositoryId]), '["push"]');
}
