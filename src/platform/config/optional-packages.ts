// Loads the npm packages that an installation can leave out, because they are for one setting only. package.json lists them
// as optional peer dependencies with their versions.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { OperatorError } from '#lib/operator-error.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** The packages of each setting, by the beginning of their names. */
const PACKAGES = {
  S3_BUCKET: '@aws-sdk/',
  REDIS_URL: '@redis/',
  OPENSEARCH_URL: '@opensearch-project/',
  CLICKHOUSE_URL: '@clickhouse/',
  OTEL_EXPORTER_OTLP_ENDPOINT: '@opentelemetry/',
} as const

/**
 * Returns what `load` imports for a setting.
 * @throws OperatorError with the command that installs the packages of the setting, if one of them is missing.
 */
export async function loadFor<T>(setting: keyof typeof PACKAGES, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
    const message = `${setting} needs npm packages that are not installed. Install them with: ${installCommand(setting)}`
    throw new OperatorError(message, { cause: error })
  }
}

function installCommand(setting: keyof typeof PACKAGES): string {
  const { version, peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  // The Debian package has no npm.
  if (existsSync(join(ROOT, '.debian-package')))
    return `apt install ./depot-engines_${version}_${process.arch === 'x64' ? 'amd64' : process.arch}.deb`
  const packages = Object.entries(peerDependencies as Record<string, string>)
    .filter(([name]) => name.startsWith(PACKAGES[setting]))
    .map(([name, wanted]) => `${name}@${wanted}`)
  return `npm install ${installOptions()} ${packages.join(' ')}`
}

/** Next to a global package, or into the folder of a checkout. */
function installOptions(): string {
  const lib = dirname(dirname(ROOT))
  if (ROOT.includes('/lib/node_modules/')) return `--global --prefix ${dirname(lib)}`
  return `--no-save --prefix ${ROOT}`
}
