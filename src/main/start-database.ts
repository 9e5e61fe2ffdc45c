// Starts the embedded database. This file imports little, so that a server can load the rest of its code while the database
// starts.

import type { Config } from '#platform/config/config.ts'
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '#platform/embedded-postgres/embedded-postgres.ts'
import { makePrivate } from './private-folder.ts'

/**
 * Starts or joins the embedded database; returns undefined if DATABASE_URL names another one. A server first closes the
 * data folder to other users. `former`: folder of the release whose PostgreSQL is started.
 */
export async function startDatabase(
  { config, log }: { config: Pick<Config, 'database' | 'dataDir'>; log: EmbeddedPostgresOptions['log'] },
  mode: 'server' | 'command',
  former?: string,
): Promise<EmbeddedPostgres | undefined> {
  const { database, dataDir } = config
  if (mode === 'server') makePrivate(dataDir)
  if (database.kind === 'external') return undefined
  return startEmbeddedPostgres({ dataDir, holder: mode, log, former })
}
