// The dashboard, new projects and reviews in a real browser: wide and narrow, light and dark, high contrast and right to
// left.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newPerson, openSite, type Site, shoot, signIn } from '#test/support/browser/chromium.ts'
import { lookAtPages, WIDE } from '#test/support/browser/looks.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { projectData } from '#test/support/http/forms.ts'

const LONG = 'Lantern-of-the-unbreakable-and-unreasonably-long-name-of-a-mod'

let site: Site
let owner: Person
before(async () => {
  site = await openSite()
  const { make } = site.t
  owner = await make.account({ username: 'ida-marsh' })
  const moderator = await make.account({ role: 'moderator' })
  const create = async (slug: string, fields: Record<string, unknown> = {}): Promise<string> => {
    const made = await site.t.as(owner).post('/v3/project', projectData(slug, { project_type: 'mod', ...fields }))
    assert.equal(made.statusCode, 201, made.body)
    return made.json().id
  }
  const set = async (who: Person, id: string, body: object): Promise<void> => {
    const answer = await site.t.as(who).patch(`/v3/project/${id}`, body)
    assert.equal(answer.statusCode, 204, answer.body)
  }
  await create('driftwood', { name: 'Driftwood', description: '', license_decided: false })
  for (const slug of ['hearth', 'tidepool']) {
    const id = await create(slug, { name: slug === 'hearth' ? 'Hearth & Forage' : LONG })
    await make.version({ project: { id, owner } as MadeProject, game_versions: ['1.21.8'] })
    await set(owner, id, { status: 'processing' })
    if (slug === 'tidepool') {
      const moderation_message = 'The image on the cards is from another mod. Please use your own or credit its author.'
      await set(moderator, id, { status: 'rejected', moderation_message })
    }
  }
  const shown = await make.project({ owner, name: 'Lantern', slug: 'lantern' })
  await make.version({ project: shown, game_versions: ['1.20.1'] })
  await make.version({ project: shown, version_number: '2.0.0', status: 'unknown' }).then(({ id }) =>
    site.t.deps.db
      .insertInto('version_scan')
      .values({
        version_id: id,
        state: 'quarantine',
        reason: 'Contains a password-protected archive.',
        next_attempt: new Date(),
        requested: new Date(),
      })
      .execute(),
  )
  await make.version({ project: shown, version_number: '2.1.0', status: 'draft' })
  const invited = await make.project({ name: 'Fair Winds' })
  await make.member({ teamId: invited.teamId, accountId: owner.id, accepted: false })
})
after(() => site?.close())

const PAGES = [
  { name: 'dashboard', path: '/dashboard' },
  { name: 'projects', path: '/dashboard/projects' },
  { name: 'uploads', path: '/dashboard/uploads' },
  { name: 'chooser', path: '/dashboard/publish' },
  { name: 'new-project', path: '/new/project' },
  { name: 'draft', path: '/mod/driftwood/settings' },
  { name: 'review-draft', path: '/mod/driftwood/settings/review' },
  { name: 'review-waiting', path: '/mod/hearth/settings/review' },
  { name: 'review-rejected', path: '/mod/tidepool/settings/review' },
]

lookAtPages(
  () => site,
  () => PAGES.map((page) => ({ ...page, token: owner.token })),
)

test('a new project is created without scripts: similar names, errors and the checklist', async () => {
  const { context, page } = await newPerson(site, { javaScriptEnabled: false, viewport: WIDE })
  await signIn(site, context, owner.token)
  await page.goto(`${site.url}/new/project`)
  await page.getByLabel('Name', { exact: true }).fill('Lanterns')
  await page.getByRole('button', { name: 'Check name' }).click()
  await page.getByText('Similar names').waitFor()
  await shoot(page, 'new-project-similar')
  assert.equal(await page.getByLabel(/^URL/).inputValue(), 'lanterns')
  await page.getByLabel(/^Summary/).fill('Lamps that glow.')
  await page.getByRole('button', { name: 'Create draft' }).click()
  await page.getByText('The draft was created').waitFor()
  assert.match(page.url(), /\/mod\/lanterns\/settings\/description\?done=created$/)
  await page.goto(`${site.url}/mod/lanterns/settings/review`)
  await page.getByRole('button', { name: 'Submit for review' }).click()
  await page.getByText('The project needs: Public version.').waitFor()
  await shoot(page, 'review-refused')
  await context.close()
})
