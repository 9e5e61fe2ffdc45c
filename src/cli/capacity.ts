// `depot capacity`: what an instance of a given size needs. Opens nothing.
import { planCapacity, summaryOf, type Workload } from '#capacity/plan.ts'
import { readArguments, wholeNumber } from './arguments.ts'
import { table } from './table.ts'
import { print } from './with-deps.ts'

const MAX = 1e12
const FILE_KB = 500
const CORES = 8
const VERSIONS_PER_PROJECT = 5
const FOLLOWS_PER_PROJECT = 32
/** From this share on it is said what to do. */
const NEAR = 0.5

export async function capacityCommand(args: readonly string[]): Promise<void> {
  const { values } = readArguments(args, {
    projects: 'string',
    versions: 'string',
    accounts: 'string',
    follows: 'string',
    'reads-per-second': 'string',
    'writes-per-second': 'string',
    'events-per-day': 'string',
    'file-kb': 'string',
    cores: 'string',
    json: 'boolean',
  })
  const numberOf = (name: Exclude<keyof typeof values, 'json'>, unless: number, min = 0): number =>
    values[name] === undefined ? unless : wholeNumber(values[name], name, min, MAX)
  const projects = numberOf('projects', 10_000)
  const readsPerSecond = numberOf('reads-per-second', 100)
  const load: Workload = {
    projects,
    versions: numberOf('versions', projects * VERSIONS_PER_PROJECT),
    accounts: numberOf('accounts', projects),
    follows: numberOf('follows', projects * FOLLOWS_PER_PROJECT),
    readsPerSecond,
    writesPerSecond: numberOf('writes-per-second', Math.ceil(readsPerSecond / 50)),
    eventsPerDay: numberOf('events-per-day', readsPerSecond * 10_000),
    fileBytes: numberOf('file-kb', FILE_KB) * 1000,
    coresPerMachine: numberOf('cores', CORES, 1),
  }
  const plan = planCapacity(load)
  const { before, after } = summaryOf(plan)
  const rows = plan.parts.map(({ part, needs, share }) => [part, needs, percent(share)])
  const near = plan.parts.filter(({ share }) => share >= NEAR)
  const remedies = near.map(({ part, remedy }) => `  ${part}: ${remedy}`)
  print(
    {
      json: { workload: load, ...plan },
      text: [
        before,
        '',
        table(['part', 'needs', 'of one machine'], rows),
        '',
        ...(near.length === 0 ? [] : ['What to set or add, in this order:', ...remedies, '']),
        after,
      ].join('\n'),
    },
    values.json,
  )
}

const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`
