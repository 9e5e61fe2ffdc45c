// Checks what an instance does in daily operation: jobs, mail, backups, uploads, accounts, the taxonomy and client addresses.
import { sql } from 'kysely'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { quietSince } from '#features/basics/settings/quiet.ts'
import { retryJobs } from '#features/operation/overview/background-jobs/retry-jobs.ts'
import {
  BACKUP_DAYS_MAX,
  backupAgeMs,
  isBackupLate,
  readBackupState,
} from '#features/operation/overview/backups/backup-age.ts'
import { loadBackups } from '#features/operation/overview/backups/load-backups.ts'
import { readState } from '#features/operation/overview/queries.ts'
import { requestRebuild } from '#features/reading/search/request-rebuild.ts'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { listJobCounts } from '#platform/jobs/queue-state.ts'
import { sweepClaims } from '#ports/files/claims.ts'
import { isOfDatabase } from '#ports/search-index/feed/changes.ts'
import { type DoctorDeps, error, type Finding, warning, when } from './finding.ts'

const WAIT_SECONDS_MAX = 300
/** Age of the newest game version in the taxonomy. */
const TAXONOMY_DAYS_MAX = 270
/** Number of accounts that must share an address before it is suspicious. */
const SHARED_ACCOUNTS_MIN = 5

export async function checkJobs(deps: DoctorDeps): Promise<Finding[]> {
  const [counts, state] = [await listJobCounts(deps.db), await readState(deps.db)]
  const isQuiet = (await quietSince(deps.db)) !== null
  const dead = counts.filter(({ failed }) => failed > 0)
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from graphile_worker._private_jobs
    where locked_at < now() - interval '4 hours'`.execute(deps.db)
  return [
    ...dead.map(({ task, failed }) =>
      error(
        'jobs_dead',
        `${failed} ${failed === 1 ? 'job' : 'jobs'} of the type ${task} failed for the last time; run them again with \`depot doctor --fix\`, and read their errors with \`depot jobs\`.`,
        () => retryJobs(deps, COMMAND, { task }),
      ),
    ),
    ...when(
      !isQuiet && state.oldestReadySeconds > WAIT_SECONDS_MAX,
      error(
        'jobs_waiting',
        `A job has been due for ${Math.round(state.oldestReadySeconds / 60)} minutes; start a process that runs jobs: \`depot serve\` or \`depot serve --role worker\`.`,
      ),
    ),
    ...when(
      (rows[0]?.count ?? 0) > 0,
      warning('jobs_stuck', 'A job has run for more than 4 hours; restart the process that runs jobs.'),
    ),
  ]
}

export async function checkMail({ db, config }: DoctorDeps): Promise<Finding[]> {
  const { rows } = await sql<{ response: string | null; count: number }>`
    select count(*)::int as count, max(response) as response from mail_delivery
    where not is_sent and at > now() - interval '1 day'`.execute(db)
  const [{ count, response } = { count: 0, response: null }] = rows
  return [
    ...when(
      config.mail.kind === 'outbox',
      warning('mail_off', 'Emails are written to a folder and sent to nobody; set SMTP_URL and MAIL_FROM.'),
    ),
    ...when(
      count > 0,
      error(
        'mail_rejected',
        `${count} emails were rejected in the last day (${(response ?? '').slice(0, 160)}); correct SMTP_URL or MAIL_FROM, and send a test email on the page Email.`,
      ),
    ),
  ]
}

export async function checkBackups({ db, now, config }: DoctorDeps): Promise<Finding[]> {
  const ageMs = backupAgeMs(await readBackupState(db), now())
  if (isBackupLate(ageMs, config)) {
    const hours = Math.floor(ageMs / HOUR_MS)
    return [
      error(
        'backup_late',
        `Scheduled backups fail: the last good one is ${hours} hours old; run \`depot backup\` to see the reason.`,
      ),
    ]
  }
  const [last] = await loadBackups(db, 1)
  const { hasProjects } = await readState(db)
  if (last === undefined)
    return when(hasProjects, warning('backup_missing', 'There is no backup; make one with `depot backup FILE`.'))
  const days = Math.floor((now() - Date.parse(last.at)) / DAY_MS)
  return [
    ...when(
      days > BACKUP_DAYS_MAX,
      warning('backup_old', `The last backup is ${days} days old; make one with \`depot backup FILE\`.`),
    ),
    ...when(
      last.missing > 0,
      error('backup_incomplete', `The last backup lacks ${last.missing} files; find them with \`depot doctor\`.`),
    ),
  ]
}

export async function checkAccounts({ db, config }: DoctorDeps): Promise<Finding[]> {
  const admin = await db.selectFrom('account').select('id').where('role', '=', 'admin').limit(1).executeTakeFirst()
  const { rows } = await sql<{ ip: string; accounts: number; addresses: number }>`
    select max(ip) as ip, count(distinct account_id)::int as accounts, count(distinct ip)::int as addresses
    from (select ip, account_id from session order by last_login desc limit 1000) recent`.execute(db)
  const { rows: ownerless } = await sql<{ slug: string }>`
    select slug from project where organization_id is null
      and not exists (select from team_member where team_id = project.team_id and is_owner) limit 1`.execute(db)
  const [{ ip, accounts, addresses } = { ip: '', accounts: 0, addresses: 0 }] = rows
  const { clientAddressHeader: header, baseUrl } = config.http
  const isShared = addresses === 1 && accounts >= SHARED_ACCOUNTS_MIN
  return [
    ...when(
      admin === undefined,
      warning(
        'admin_missing',
        'No account is an admin; make one with `depot user role USER admin` or `depot user create`.',
      ),
    ),
    ...ownerless.map(({ slug }) =>
      error('owner_missing', `The project ${slug} has no owner; an admin can set one on the page of its members.`),
    ),
    ...when(
      isShared,
      error(
        'proxy_hides_clients',
        `All ${accounts} accounts sign in from the address ${ip}, so limits apply to all visitors together; let the proxy send the address of the client in a header, and name the header in CLIENT_ADDRESS_HEADER.`,
      ),
    ),
    ...when(
      !isShared && header === undefined && baseUrl.startsWith('https:'),
      warning(
        'proxy_unnamed',
        'BASE_URL begins with https, so a proxy is in front of Depot, and its requests count as one client; set CLIENT_ADDRESS_HEADER to the header with the address of the client.',
      ),
    ),
  ]
}

export async function checkUploads(deps: DoctorDeps): Promise<Finding[]> {
  const { rows } = await sql<{ expired: number; claims: number }>`select
    (select count(*)::int from upload where expires < now() - interval '1 day') as expired,
    (select count(*)::int from upload_claim where created < now() - interval '12 hours') as claims`.execute(deps.db)
  const [{ expired, claims } = { expired: 0, claims: 0 }] = rows
  return [
    ...when(
      expired > 0,
      warning(
        'uploads_expired',
        `${expired} expired uploads were not removed; check that a process runs jobs (\`depot jobs\`).`,
      ),
    ),
    ...when(
      claims > 0,
      warning(
        'claims_left',
        `${claims} files of interrupted uploads remain in the store; delete them with \`depot doctor --fix\`.`,
        () => sweepClaims(deps),
      ),
    ),
  ]
}

/** Checks that the saved index is one of this database, and that requested rebuilds were made. */
export async function checkIndex(deps: DoctorDeps): Promise<Finding[]> {
  const { db } = deps
  const saved = await db.selectFrom('search_index').select(['database', 'snapshot']).execute()
  const foreign: unknown[] = []
  for (const { database, snapshot } of saved) {
    if (database === null || snapshot === null) continue
    if (!(await isOfDatabase(db, { database, snapshot }))) foreign.push(database)
  }
  const { rows } = await sql<{ open: boolean }>`select requested > finished as open from search_rebuild`.execute(db)
  const rebuild = () => requestRebuild(deps, COMMAND)
  return [
    ...when(
      foreign.length > 0,
      error(
        'index_foreign',
        'The search index was built from another state of the database; build it again with `depot doctor --fix`.',
        rebuild,
      ),
    ),
    ...when(
      rows[0]?.open === true,
      warning(
        'index_stale',
        'The search index waits to be built again; start Depot, or run `depot reindex` if it runs.',
      ),
    ),
  ]
}

export async function checkTaxonomy({ db, taxonomy, now }: DoctorDeps): Promise<Finding[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct loader as name from version, unnest(loaders) as loader order by 1 limit 10000`.execute(db)
  const unknown = rows.map(({ name }) => name).filter((name) => !taxonomy.loaders.has(name))
  const versions = [...(taxonomy.fields.get('game_versions')?.enumValues?.values() ?? [])]
  const newest = Math.max(...versions.map(({ created }) => Date.parse(created)))
  const days = Math.floor((now() - newest) / DAY_MS)
  return [
    ...when(
      unknown.length > 0,
      error(
        'taxonomy_lacks',
        `The taxonomy lacks loaders that versions use (${unknown.slice(0, 5).join(', ')}); add them on the page Tags, or install a newer release.`,
      ),
    ),
    ...when(
      days > TAXONOMY_DAYS_MAX,
      warning(
        'taxonomy_old',
        `The newest game version of the taxonomy is ${days} days old; add newer ones on the page Tags, or install a newer release.`,
      ),
    ),
  ]
}
