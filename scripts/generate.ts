// `npm run gen`: generates the row types and schema.sql from the migrations, the API descriptions from the routes,
// types of the client from the description, the licences of SPDX, .env.example from the settings, docs/generated/scopes.md from the scopes, and the
// marked blocks of documents.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { permissionTables, scopeTable } from '#features/basics/authentication/bit-tables.ts'
import { API_DESCRIPTIONS } from '#main/api-description.ts'
import { buildApp } from '#main/app.ts'
import { boot } from '#main/boot.ts'
import { envExample } from '#platform/config/env-example.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { createPool } from '#platform/db/db.ts'
import { migrate } from '#platform/db/migrate.ts'
import { startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { openApiText } from '#platform/http/openapi/openapi.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import { generateClient, generateDeclarations } from '../packages/client/generate.mjs'
import { describeSchema } from './describe-schema.ts'
import { documentBlocks, documentsWithBlocks, routeBlocks, withBlocks } from './document-blocks.ts'
import { writeRowTypes } from './row-types.ts'
import { writeSpdxLicenses } from './spdx-licenses.ts'

const ROOT = join(import.meta.dirname, '..')

/** A throwaway migrated database; `use` gets its connection string. */
async function withDatabase<T>(use: (connectionString: string, dataDir: string) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'depot-generate-'))
  chmodSync(dataDir, 0o711)
  const embedded = await startEmbeddedPostgres({
    dataDir,
    holder: 'command',
    log: silentLog(),
    settings: { fsync: 'off' },
    systemDir: join(dataDir, 'system'),
  })
  try {
    return await use(embedded.connectionString, dataDir)
  } finally {
    await embedded.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function generateSchema(connectionString: string): Promise<void> {
  const pool = createPool({ connectionString }, { max: 2, applicationName: 'depot-generate' })
  await migrate(pool)
  writeFileSync(join(ROOT, 'docs/generated/schema.sql'), await describeSchema(pool))
  await pool.end()
  await writeRowTypes(connectionString, join(ROOT, 'src/platform/db/schema.ts'))
}

/** Writes the API descriptions. Returns the blocks of documents that describe the routes. */
async function generateOpenApi(connectionString: string, dataDir: string): Promise<Record<string, string>> {
  const config = loadConfig({
    DATABASE_URL: connectionString,
    DATA_DIR: join(dataDir, 'depot'),
    BASE_URL: 'http://127.0.0.1:8080',
  })
  const booted = await boot({ config, log: silentLog(), mode: 'command' })
  const app = await buildApp(booted.deps)
  await app.ready()
  writeFileSync(join(ROOT, 'docs/generated/openapi.json'), openApiText(app, API_DESCRIPTIONS.v3))
  writeFileSync(join(ROOT, 'docs/generated/openapi-v2.json'), openApiText(app, API_DESCRIPTIONS.v2))
  const blocks = routeBlocks(app.routeTable())
  await app.close()
  await booted.close()
  return blocks
}

const ofRoutes = await withDatabase(async (connectionString, dataDir) => {
  await generateSchema(connectionString)
  return generateOpenApi(connectionString, dataDir)
})
writeFileSync(join(ROOT, '.env.example'), envExample())
writeFileSync(
  join(ROOT, 'docs/generated/scopes.md'),
  `# Scopes and permissions\n\nMade by \`npm run gen\`.\n\n${scopeTable()}\n\n${permissionTables()}\n`,
)
const blocks = { ...documentBlocks(), ...ofRoutes }
for (const path of documentsWithBlocks()) {
  const document = join(ROOT, path)
  writeFileSync(document, withBlocks(await readFile(document, 'utf8'), blocks))
}
writeSpdxLicenses()
await generateClient()
generateDeclarations()
