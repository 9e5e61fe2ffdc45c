// Reports known vulnerabilities of the production packages, from the registry: fails for high and critical ones, lists
// the others. An unreachable registry, or one without audits, is not a failure.
import { spawnSync } from 'node:child_process'

const { stdout, error } = spawnSync(
  'npm',
  ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=20000'],
  {
    encoding: 'utf8',
    timeout: 60_000,
  },
)
const report = error === undefined ? read(stdout) : undefined
if (report?.metadata?.vulnerabilities === undefined) {
  console.log('The registry does not answer audits here: left out')
} else {
  const found = Object.values(report.vulnerabilities)
  for (const { name, severity, range } of found) console.log(`${severity}: ${name} ${range}`)
  const grave = found.filter(({ severity }) => severity === 'high' || severity === 'critical')
  console.log(`${found.length} packages with known holes, ${grave.length} of them high or critical`)
  process.exitCode = grave.length > 0 ? 1 : 0
}

function read(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
