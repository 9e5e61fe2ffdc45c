// Requests for the tests of all operations.
import { COMMAND } from '#features/basics/audit/actor.ts'
import { publishPage } from '#features/basics/settings/pages/publish-page.ts'
import { type Declared, icon, PICTURE, type Sample, send } from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'

/** Not the Terms: sign-ups of other operations would have to agree to them. */
const publishImprint = (w: World) => publishPage(w.t.deps, COMMAND, { kind: 'imprint', text: 'The first imprint' })

export const SAMPLES: Record<string, Sample> = {
  updateSettings: { body: { announcement: 'Maintenance on Monday' } },
  setMark: icon,
  getInstancePage: { at: { kind: () => 'imprint' }, before: publishImprint },
  listInstancePageVersions: { at: { kind: () => 'imprint' } },
  getInstancePageVersion: { at: { kind: () => 'imprint', version: () => '1' }, before: publishImprint },
  publishInstancePage: { at: { kind: () => 'imprint' }, body: { text: 'Our imprint' } },
}

export const DECLARED: Record<string, Declared> = {
  setMark: { by: 'operator', view: (read) => read('/_internal/instance'), unseen: { ext: PICTURE } },
  updateSettings: {
    by: 'operator',
    view: (read) => read('/_internal/admin/settings'),
    fields: {
      name: send('Our lanterns'),
      accent_hue: send(210),
      home_heading: send('Lanterns for everyone'),
      home_text: send('Made by the people of the harbour'),
      home_sections: send(['trending', 'releases']),
      about: send('About our work'),
      rules: send('Our rules'),
      footer_links: send([{ label: 'Forum', url: 'https://forum.example' }]),
      announcement: send('Maintenance on Sunday'),
      announcement_severity: send('warning'),
      announcement_link: send('https://status.example'),
      announcement_start: send('2026-01-02T03:04:05.000Z'),
      announcement_end: send('2056-01-02T03:04:05.000Z'),
      currency: send('EUR'),
      sign_ups_per_range: send(900),
      first_projects_per_day: send(900),
      first_steps_dismissed: send(true),
      read_only_message: send('Back in an hour'),
    },
    unseen: {
      approve_accounts: 'would keep the accounts of other operations from publishing; sign-up-blocks.test.ts has it',
      require_staff_two_factor: 'would take the role of the other callers; staff-two-factor.test.ts has it',
      registration: 'would close sign-up for the other operations; settings.test.ts has it',
      read_only: 'would refuse the other operations; read-only.test.ts has it',
    },
  },
}
