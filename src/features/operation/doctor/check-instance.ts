// Runs all checks of an open instance, one after another, so that a serving instance keeps its connections.
import { checkDependencies } from '#features/basics/meta/readiness.ts'
import { QUIET } from '#features/basics/settings/quiet.ts'
import { reasonOf } from '#lib/errors.ts'
import { isDamagedStore } from '#ports/analytics-store/analytics-store.ts'
import { checkCounts } from './check-counts.ts'
import { checkSchemaObjects, checkServerSettings } from './check-database.ts'
import {
  checkAccounts,
  checkBackups,
  checkIndex,
  checkJobs,
  checkMail,
  checkTaxonomy,
  checkUploads,
} from './check-state.ts'
import { type Check, type DoctorDeps, error, type Finding, restoreCommand, warning } from './finding.ts'

const CHECKS: readonly Check[] = [
  checkServices,
  checkServerSettings,
  checkSchemaObjects,
  checkCounts,
  checkJobs,
  checkIndex,
  checkUploads,
  checkMail,
  checkBackups,
  checkAccounts,
  checkTaxonomy,
]

/** Returns the findings of all checks. A check that fails is a finding. */
export async function checkInstance(deps: DoctorDeps): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const check of CHECKS) {
    try {
      findings.push(...(await check(deps)))
    } catch (cause) {
      const reason = reasonOf(cause)
      findings.push(
        error('check_failed', `A check could not run (${reason}); correct the faults above, and run it again.`),
      )
    }
  }
  return findings
}

/** Checks the stores and the services that the settings name. */
async function checkServices(deps: DoctorDeps): Promise<Finding[]> {
  const { dependencies } = await checkDependencies(deps)
  return Object.entries(dependencies).flatMap(([name, { status, state, error: reason = status }]) => {
    if (status === 'ok') return []
    // The check of the tables names what is damaged.
    if (state === 'damaged') return []
    if (name === 'analytics' && isDamagedStore(new Error(reason))) {
      const message = `The analytics file is damaged; stop Depot and restore the events with \`${restoreCommand(deps.config, 'events')}\`.`
      return [error('analytics_damaged', message)]
    }
    if (state === 'quiet') return [warning('quiet', `${QUIET}.`)]
    const remedy = 'correct its settings or start the service that they name'
    return [error(`${name}_fails`, `${LABELS[name] ?? name} cannot be used (${reason}); ${remedy}.`)]
  })
}

const LABELS: Readonly<Record<string, string>> = {
  database: 'The database',
  files: 'The file store',
  search: 'The search index',
  analytics: 'The store of analytics events',
  counters: 'The counters of limits',
  mail: 'The mail server',
}
