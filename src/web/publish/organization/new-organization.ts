// The form for a new organization.

import type { FastifyReply } from 'fastify'
import { mustVerifyEmail } from '#features/basics/access/email-policy.ts'
import { createOrganization } from '#features/community/organizations/create-organization.ts'
import { getOrganizationRow } from '#features/community/organizations/queries.ts'
import { checkNewOrganization, NewOrganization } from '#features/community/organizations/requests.ts'
import { suggestOrganizationSlug } from '#features/community/organizations/suggest-slug.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { organizationPath, PATHS } from '#web/kit/paths.ts'
import { showWork } from '#web/kit/work-page.ts'
import { html } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { limitNotes } from '../limits.ts'
import { ORGANIZATION_FIELDS } from './general.ts'

export function newOrganizationPage(pages: Pages): void {
  formPage<null>(pages, {
    path: PATHS.newOrganization,
    name: 'publishNewOrganization',
    api: 'createOrganization getOrganizationLimit',
    load: async () => null,
    show: showNewOrganization,
    commands: {
      create,
      // Shows the page again, with a URL that is free.
      check: async (request, _data, state) => showNewOrganization(request, null, state),
    },
    labels: ORGANIZATION_FIELDS.said,
  })
}

async function create({ deps, viewer }: OwnRequest, _data: null, state: FormState): Promise<Outcome> {
  const [name, slug] = [state.text('name'), state.text('slug').trim()]
  const fields = checkValues(NewOrganization, {
    name,
    slug: slug === '' ? await suggestOrganizationSlug(deps.db, name) : slug,
    description: state.text('description'),
  })
  const id = await createOrganization(deps, viewer, checkNewOrganization(fields))
  const row = await getOrganizationRow(deps.db, id)
  return { done: 'organization-created', path: `${organizationPath(row.slug)}/settings/members` }
}

async function showNewOrganization(request: OwnRequest, _data: null, state: FormState): Promise<FastifyReply> {
  const { page, deps, viewer, t } = request
  const name = state.text('name').trim()
  const suggestion = name === '' ? '' : await suggestOrganizationSlug(deps.db, state.text('slug').trim() || name)
  const isTaken = state.errors.some(({ field }) => field === 'slug')
  const content = html`${ORGANIZATION_FIELDS.controls(
    page,
    state,
    {},
    {
      name: {
        hasFocus: !state.isSubmitted,
        after: html`<div class="line"><button class="tight" name="do" value="check" formnovalidate>${t('publish.new.check')}</button></div>`,
      },
      slug: {
        suggestion,
        isOptional: true,
        hint:
          isTaken && suggestion !== '' ? t('publish.new.slug-free', { slug: suggestion }) : t('publish.new.slug-hint'),
      },
    },
  )}
<div class="line"><a class="button" href="${pathTo(page, PATHS.dashboardOrganizations)}">${t('work.cancel')}</a><button class="main" name="do" value="create">${t('organizations.create')}</button></div>`
  return showWork(request, {
    title: t('organizations.new'),
    subject: {
      name: t('organizations.new'),
      crumbs: [{ path: PATHS.dashboardOrganizations, label: t('organizations.title') }],
    },
    form: state,
    notes: await limitNotes(request, {
      kind: 'organizations',
      unverified: mustVerifyEmail(deps, viewer) && t('organizations.new.unverified'),
      full: (max) => t('organizations.new.full', { max }),
    }),
    body: html`${sheetHead({ title: t('organizations.new.heading'), text: t('organizations.new.text') })}
${formPart(page, { id: 'organization', path: PATHS.newOrganization, content })}`,
  })
}
