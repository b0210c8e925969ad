import pg from "pg";

const WINDOW_MS = 86_400_000;
// As many as the other peers have; pg's own default is half of it.
const CONNECTIONS = 20;

const SCHEMA = `
CREATE TABLE IF NOT EXISTS integrations (
  id text PRIMARY KEY, organization_id text NOT NULL, provider text NOT NULL, enabled boolean NOT NULL
);
CREATE TABLE IF NOT EXISTS repositories (
  organization_id text NOT NULL, provider text NOT NULL, repository_id bigint NOT NULL,
  integration_id text NOT NULL REFERENCES integrations (id), full_name text NOT NULL,
  PRIMARY KEY (organization_id, provider, repository_id)
);
CREATE TABLE IF NOT EXISTS webhook_secrets (
  id int PRIMARY KEY, integration_id text NOT NULL REFERENCES integrations (id), secret text NOT NULL, expires_at bigint
);
CREATE INDEX IF NOT EXISTS ix_webhook_secrets ON webhook_secrets (integration_id);
CREATE TABLE IF NOT EXISTS triggers (
  id text PRIMARY KEY, organization_id text NOT NULL, provider text NOT NULL, enabled boolean NOT NULL,
  repository_ids jsonb NOT NULL, event_types jsonb NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_triggers ON triggers (organization_id, provider);
CREATE TABLE IF NOT EXISTS claims (
  integration_id text NOT NULL, repository_id bigint NOT NULL, delivery_id text NOT NULL, claimed_at bigint NOT NULL,
  PRIMARY KEY (integration_id, repository_id, delivery_id)
);
CREATE INDEX IF NOT EXISTS ix_claims ON claims (claimed_at);
CREATE TABLE IF NOT EXISTS context_records (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, organization_id text NOT NULL, repository_id bigint NOT NULL,
  delivery_id text NOT NULL, type text NOT NULL, data text NOT NULL, created_at bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_context_records ON context_records (organization_id, created_at);
CREATE TABLE IF NOT EXISTS workflow_runs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, organization_id text NOT NULL, trigger_id text NOT NULL,
  context_id bigint NOT NULL REFERENCES context_records (id), status text NOT NULL, created_at bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_workflow_runs ON workflow_runs (organization_id, created_at) WHERE status = 'pending';
CREATE TABLE IF NOT EXISTS log_entries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, organization_id text NOT NULL, integration_id text NOT NULL,
  repository_id bigint NOT NULL, reference_id text, title text NOT NULL, status text NOT NULL,
  status_code int NOT NULL, error_message text, context_id bigint REFERENCES context_records (id),
  created_at bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_log_entries ON log_entries (organization_id, created_at);
`;

// Each has a name: the server prepares it once for each connection.
const ENDPOINT = {
  name: "endpoint",
  text: `
    SELECT i.enabled, r.integration_id AS owner,
      ARRAY(SELECT secret FROM webhook_secrets s
        WHERE s.integration_id = i.id AND (s.expires_at IS NULL OR s.expires_at > $5)) AS secrets,
      (SELECT coalesce(json_agg(json_build_object('id', t.id, 'enabled', t.enabled,
          'repositoryIds', t.repository_ids, 'eventTypes', t.event_types)), '[]')
        FROM triggers t WHERE t.organization_id = i.organization_id AND t.provider = i.provider) AS triggers
    FROM integrations i
    LEFT JOIN repositories r
      ON r.organization_id = i.organization_id AND r.provider = i.provider AND r.repository_id = $4
    WHERE i.id = $3 AND i.organization_id = $2 AND i.provider = $1`,
};
const HELD = {
  name: "held",
  text: `SELECT 1 FROM claims
    WHERE integration_id = $1 AND repository_id = $2 AND delivery_id = $3 AND claimed_at > $4`,
};
const TAKE = {
  name: "take",
  text: `
    INSERT INTO claims (integration_id, repository_id, delivery_id, claimed_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (integration_id, repository_id, delivery_id) DO UPDATE SET claimed_at = excluded.claimed_at
    WHERE claims.claimed_at <= excluded.claimed_at - ${WINDOW_MS}`,
};
const ADD_LOG = {
  name: "log",
  text: `
    INSERT INTO log_entries (organization_id, integration_id, repository_id, reference_id, title, status, status_code,
      error_message, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
};
// What a won claim entails, in one question instead of three.
const ADD_REST = {
  name: "rest",
  text: `
    WITH context AS (
      INSERT INTO context_records (organization_id, repository_id, delivery_id, type, data, created_at)
      VALUES ($1, $3, $4, 'push', $10, $9) RETURNING id
    ), runs AS (
      INSERT INTO workflow_runs (organization_id, trigger_id, context_id, status, created_at)
      SELECT $1, t, context.id, 'pending', $9 FROM context, unnest($11::text[]) t
    )
    INSERT INTO log_entries (organization_id, integration_id, repository_id, reference_id, title, status, status_code,
      error_message, created_at, context_id)
    SELECT $1, $2, $3::bigint, $4, $5, $6, $7::int, $8, $9::bigint, context.id FROM context`,
};

export async function open(settings) {
  const pool = new pg.Pool({ connectionString: settings.database, max: CONNECTIONS });
  await pool.query(SCHEMA);
  await seed(pool, settings);

  const values = (log, now) => [
    log.organizationId, log.integrationId, log.repositoryId, log.delivery, log.title, log.status, log.statusCode,
    log.error, now,
  ];
  const inTransaction = async (work) => {
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      const result = await work(client);
      await client.query("COMMIT");
      client.release();
      return result;
    } catch (error) {
      // The server undoes what a connection that is closed had begun.
      client.release(error);
      throw error;
    }
  };

  return {
    async endpoint({ provider, organizationId, integrationId, repositoryId }) {
      const asked = [provider, organizationId, integrationId, repositoryId, Date.now()];
      const { rows } = await pool.query({ ...ENDPOINT, values: asked });
      return rows.length ? { ...rows[0], ours: rows[0].owner === integrationId } : null;
    },
    settle({ log, duplicateLog, data, triggerIds }) {
      const now = Date.now();
      return inTransaction(async (client) => {
        const key = [log.integrationId, log.repositoryId, log.delivery, now];
        if (!(await client.query({ ...TAKE, values: key })).rowCount) {
          await client.query({ ...ADD_LOG, values: values(duplicateLog, now) });
          return false;
        }
        await client.query({ ...ADD_REST, values: [...values(log, now), data, triggerIds] });
        return true;
      });
    },
    logUnlessClaimed(log, duplicateLog) {
      const now = Date.now();
      return inTransaction(async (client) => {
        const key = [log.integrationId, log.repositoryId, log.delivery, now - WINDOW_MS];
        const free = !(await client.query({ ...HELD, values: key })).rowCount;
        await client.query({ ...ADD_LOG, values: values(free ? log : duplicateLog, now) });
        return free;
      });
    },
    log: (log) => pool.query({ ...ADD_LOG, values: values(log, Date.now()) }),
    close: () => pool.end(),
  };
}

async function seed(
  pool,
  { provider, organizationId, integrationId, repository, repositoryId, secret, triggerId },
) {
  const insert = (table, ...values) =>
    pool.query(
      `INSERT INTO ${table} VALUES (${values.map((_, at) => `$${at + 1}`).join(", ")}) ON CONFLICT DO NOTHING`,
      values,
    );
  await insert("integrations", integrationId, organizationId, provider, true);
  await insert("repositories", organizationId, provider, repositoryId, integrationId, repository);
  await insert("webhook_secrets", 1, integrationId, secret, null);
  await insert("triggers", triggerId, organizationId, provider, true, JSON.stringify([repositoryId]), '["push"]');
}
