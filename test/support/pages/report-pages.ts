// Reports, scans, threads, the record of a user, saved replies, takedowns and the log, and the pages of the reporter.
import type { TestApp } from '../app/test-app.ts'
import type { MadeProject, Person } from '../factories/factories.ts'
import { pagesOf, type ShownPage } from './shown-page.ts'
import { LONG_NAME as LONG, type WorkPeople } from './work-pages.ts'

export async function makeReportPages(t: TestApp, people: WorkPeople): Promise<ShownPage[]> {
  const { moderator, reporter, admin } = people
  const project = await t.make.project({ name: LONG })
  const version = await makeScan(t, project)
  const report = await makeReports(t, project, people)
  await makeReplies(t, moderator)
  await t.as(reporter).post(`/v3/project/${project.id}/follow`)
  await t.as(moderator).patch(`/v3/project/${project.id}`, { status: 'withheld' })
  const advisory = await makeAdvisories(t, project)
  const other = await t.make.project({ name: LONG })
  const copied = await t.make.version({ project: other })
  await t.make.file({
    version: copied,
    project: other,
    bytes: Buffer.from(other.id),
    filename: `${LONG.replaceAll(' ', '-')}.jar`,
  })
  const body = { kind: 'project', id: other.id, visibility: 'rejected', reason: 'malicious', reference: LONG }
  const { id: takedown } = (await t.as(moderator).post('/_internal/moderation/takedown', body)).json()
  const at = pagesOf(moderator)
  const own = pagesOf(reporter)
  return [
    at('reports', 'moderateReports', '/moderation/reports'),
    at('reports-none', 'moderateReports', '/moderation/reports?state=closed'),
    at('report', 'moderateReport', `/moderation/reports/${report}`),
    at('scans', 'moderateScans', '/moderation/scans'),
    at('advisories', 'moderateAdvisories', '/moderation/advisories'),
    at('advisory', 'moderateAdvisory', `/moderation/advisories/${advisory}`),
    at('new-advisory', 'moderateNewAdvisory', '/moderation/advisories/new'),
    at('threads', 'moderateThreads', '/moderation/threads'),
    at('user-record', 'moderateUser', `/moderation/user/${project.owner.id}`),
    at('texts', 'moderateTexts', '/moderation/texts'),
    at('takedown', 'moderateTakedown', `/moderation/takedown?kind=version&id=${version}`),
    at('takedown-result', 'moderateTakedownResult', `/moderation/takedown/${takedown}`),
    at('external-images', 'moderateExternalImages', `/moderation/takedown/images?project=${project.id}`),
    pagesOf(admin)('blocked-files', 'moderateBlockedFiles', '/moderation/takedown/blocked'),
    pagesOf(admin)('deletion', 'moderateDeletion', `/moderation/takedown/delete?kind=project&id=${project.id}`),
    at('log', 'moderateLog', '/moderation/log'),
    own('own-reports', 'ownReports', '/dashboard/reports'),
    own('own-report', 'ownReport', `/dashboard/reports/${report}`),
    own('follows', 'ownFollows', '/dashboard/follows'),
  ]
}

/** Creates a version that the scanner holds back; returns its ID. */
async function makeScan(t: TestApp, project: MadeProject): Promise<string> {
  const version = await t.make.version({ project, status: 'unknown', version_number: '2.0.0' })
  const finding = { file_id: 'f', filename: `${LONG}.jar`, verdict: 'quarantine', reason: 'Test.Signature' }
  await t.deps.db
    .insertInto('version_scan')
    .values({
      version_id: version.id,
      state: 'quarantine',
      reason: 'Test.Signature',
      findings: JSON.stringify([finding]),
      next_attempt: new Date(),
      requested: new Date(),
    })
    .execute()
  return version.id
}

/** Creates two advisories that wait for a decision; returns the ID of the first. */
async function makeAdvisories(t: TestApp, project: MadeProject): Promise<string> {
  const version = await t.make.version({ project, version_number: '1.0.0' })
  await t.make.file({ project, version, bytes: Buffer.from('bad') })
  const ids: string[] = []
  for (const summary of ['Sends the session of the launcher to another server', `Deletes ${LONG}`]) {
    const answer = await t
      .as(project.owner)
      .post('/v3/advisory', {
        project: project.id,
        versions: [version.id],
        summary,
        details: `Version 1.0.0 of ${LONG} reads \`launcher_accounts.json\` and sends it away.`,
        severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' }],
        references: [{ type: 'REPORT', url: 'https://example.org/report' }],
        withdraw: true,
      })
    if (answer.statusCode !== 201) throw new Error(answer.body)
    ids.push(answer.json().id)
  }
  return ids[0] ?? ''
}

/** Reports a project as several users, with a conversation; returns the ID of the first report. */
async function makeReports(t: TestApp, project: MadeProject, { moderator, reporter }: WorkPeople): Promise<string> {
  const ids: string[] = []
  for (const who of [reporter, ...(await t.make.people(5))]) {
    const body = `It sends **all files** to a server, see https://example.org/${LONG.repeat(2)}`
    const input = { report_type: 'malicious', item_type: 'project', item_id: project.id, body }
    ids.push((await t.as(who).post('/v3/report', input)).json().id)
  }
  const [first = ''] = ids
  const { thread_id } = (await t.as(reporter).get(`/v3/report/${first}`)).json()
  const write = (who: Person, body: string, isPrivate = false) =>
    t.as(who).post(`/v3/thread/${thread_id}`, { body: { type: 'text', body, private: isPrivate } })
  await write(moderator, 'Thank you. Which file does it send?')
  await write(moderator, 'The author was cooperative before.', true)
  await write(reporter, 'The file with the session of the launcher.')
  return first
}

async function makeReplies(t: TestApp, moderator: Person): Promise<void> {
  for (const [title, topic] of [
    ['Name the licence', 'Licence'],
    ['Add the source of the library', 'Files'],
  ]) {
    const body = 'Please add the source of {file} in version {version} of {project}, or remove it.'
    await t.as(moderator).post('/_internal/moderation/replies', { title, topic, language: 'en', body })
  }
}
