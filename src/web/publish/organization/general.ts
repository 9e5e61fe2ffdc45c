// Organization settings: name, URL, description and icon.
import type { FastifyReply } from 'fastify'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { OrganizationPatch } from '#features/community/organizations/requests.ts'
import { organizationIconOwner, updateOrganization } from '#features/community/organizations/update-organization.ts'
import { conflictNote, editBase } from '#web/kit/forms/edits.ts'
import { editState, type FormState, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { organizationPath } from '#web/kit/paths.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { saveBar } from '#web/ui/parts/actions.ts'
import { form, textArea, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { ICON_LABELS, iconCommands, iconPart } from '../icon-part.ts'
import { type ManagedOrganization, may } from './managed-organization.ts'
import { organizationForm, showOrganizationSettings } from './settings-frame.ts'

const editable = ({ view: { name, slug, description } }: ManagedOrganization) => ({ name, slug, description })

export const ORGANIZATION_LABELS = { name: 'The name', slug: 'The URL', description: 'The description' }

export function organizationGeneralPages(pages: Pages): void {
  organizationForm(pages, {
    below: '',
    name: 'manageOrganizationGeneral',
    shows: 'Name, URL, description and icon of an organization',
    api: 'updateOrganization setOrganizationIcon deleteOrganizationIcon',
    show: showGeneral,
    commands: {
      save,
      ...iconCommands<ManagedOrganization>(
        ({ db }) => organizationIconOwner(db),
        ({ organization }) => organization.id,
      ),
    },
    labels: { ...ORGANIZATION_LABELS, ...ICON_LABELS },
  })
}

async function save({ deps, viewer }: OwnRequest, data: ManagedOrganization, state: FormState): Promise<Outcome> {
  const patch = checkValues(OrganizationPatch, state.edited(editable(data)))
  const { organization, team } = data
  const { id, slug } = organization
  const revision = Math.max(organization.revision, team.organization_revision ?? 0)
  if (Object.keys(patch).length > 0) await updateOrganization(deps, viewer, { name: id, patch, revision })
  return { done: 'saved', path: `${organizationPath((patch.slug ?? slug).toLowerCase())}/settings` }
}

function showGeneral(request: OwnRequest, data: ManagedOrganization, state: FormState): Promise<FastifyReply> {
  const { page, deps } = request
  const { t } = page.language
  const { view, settings } = data
  // A refused form shows what was entered, even if the permission was removed in the meantime.
  const isEditable = may(data, 'EDIT_DETAILS') || state.isSubmitted
  const url = imageUrl(deps.config, view.icon_url)
  const icon = iconPart(page, { action: pathTo(page, settings), name: view.name, url, errors: state.errors })
  return showOrganizationSettings(request, data, {
    section: '',
    heading: t('manage.general'),
    text: t('organizations.general.text'),
    needs: 'EDIT_DETAILS',
    form: state,
    body: isEditable ? [detailsForm(page, data, editState(state)), icon] : facts(page, data),
  })
}

function detailsForm(page: PageContext, data: ManagedOrganization, state: FormState): Markup {
  const { t } = page.language
  const labels = { name: t('manage.name'), slug: t('manage.slug'), description: t('organizations.description') }
  const content = html`${editBase(state, editable(data))}${conflictNote(page, state, labels)}
${detailsFields(page, state, { ...editable(data), slugHint: t('organizations.slug-hint') })}`
  return form(page, {
    action: pathTo(page, data.settings),
    content: [sheetPart({ id: 'details', content }), saveBar(page)],
  })
}

type Details = {
  name: string
  slug: string
  description: string
  slugHint: string
  isNew?: boolean
  afterName?: Markup
}

/** Renders the fields of an organization. */
export function detailsFields(page: PageContext, state: FormState, of: Details): Markup {
  const { t } = page.language
  const { errors } = state
  const slug = state.text('slug', of.slug)
  return html`${textField(page, { name: 'name', label: t('manage.name'), value: state.text('name', of.name), minLength: 3, maxLength: 64, hasFocus: of.isNew === true && !state.isSubmitted, errors })}
${of.afterName}
${textField(page, { name: 'slug', label: t('manage.slug'), hint: of.slugHint, value: of.isNew === true && slug === '' ? of.slug : slug, minLength: 3, maxLength: 64, isName: true, isOptional: of.isNew === true, errors })}
${textArea(page, { name: 'description', label: t('organizations.description'), hint: t('organizations.description-hint'), value: state.text('description', of.description), maxLength: 256, rows: 3, errors })}`
}

function facts(page: PageContext, { view }: ManagedOrganization): Markup {
  const { t } = page.language
  const rows = [
    [t('manage.name'), view.name],
    [t('manage.slug'), view.slug],
    [t('organizations.description'), view.description],
  ]
  const content = html`<dl class="pairs wide">${rows.map(([label, value]) => html`<dt>${label}</dt><dd dir="auto">${value}</dd>`)}</dl>`
  return sheetPart({ id: 'details', content })
}
