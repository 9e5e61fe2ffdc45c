// A moderator's advisory about files that belong to no project here. It is published immediately.
import type { FastifyReply } from 'fastify'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { ADVISORY_LABELS, advisoryForm, createFrom } from '#web/publish/advisories/advisory-form.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { note } from '#web/ui/parts/lists.ts'
import { moderatedAdvisory, showSection } from '../frame.ts'

export function newAdvisoryPage(pages: Pages): void {
  formPage<undefined>(pages, {
    path: PATHS.newModeratedAdvisory,
    name: 'moderateNewAdvisory',
    api: 'createAdvisory',
    load: async () => undefined,
    show: showNew,
    commands: { create, preview: async (request, _data, state) => showNew(request, undefined, state) },
    // The API expects a version or a hash, and this form has no versions.
    labels: { ...ADVISORY_LABELS, versions: 'The hashes' },
    options: { role: 'moderator' },
  })
}

async function create(request: OwnRequest, _data: undefined, state: FormState): Promise<Outcome> {
  const { id } = await createFrom(request, state, undefined)
  return { done: 'advisory-published', path: moderatedAdvisory(id) }
}

async function showNew(request: OwnRequest, _data: undefined, state: FormState): Promise<FastifyReply> {
  const { page, t } = request
  return showSection(request, {
    section: PATHS.moderationAdvisories,
    title: t('advisories.new'),
    form: state,
    notes: note(page, 'warn', t('advisories.new.without-project')),
    body: [
      sheetHead({ title: t('advisories.new'), text: t('advisories.new.text') }),
      await advisoryForm(request, state, { action: pathTo(page, PATHS.newModeratedAdvisory), versions: undefined }),
    ],
  })
}
