// Organization settings: name, URL, description and icon.
import type { FastifyReply } from 'fastify'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { OrganizationPatch } from '#features/community/organizations/requests.ts'
import { organizationIconOwner, updateOrganization } from '#features/community/organizations/update-organization.ts'
import { fields } from '#web/kit/forms/fields.ts'
import { type FormState, type Outcome, stateOf } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { organizationPath } from '#web/kit/paths.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { saveForm } from '#web/ui/parts/actions.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { ICON_LABELS, iconCommands, iconPart } from '../icon-part.ts'
import { type ManagedOrganization, may } from './managed-organization.ts'
import { organizationForm, showOrganizationSettings } from './settings-frame.ts'

/** The fields of an organization. */
export const ORGANIZATION_FIELDS = fields(OrganizationPatch, {
  name: { label: 'manage.name' },
  slug: { label: 'manage.slug', said: 'The URL', hint: 'organizations.slug-hint', isName: true },
  description: { label: 'organizations.description', hint: 'organizations.description-hint', rows: 3 },
})

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
    labels: { ...ORGANIZATION_FIELDS.said, ...ICON_LABELS },
  })
}

async function save({ deps, viewer }: OwnRequest, data: ManagedOrganization, state: FormState): Promise<Outcome> {
  const patch = ORGANIZATION_FIELDS.changes(state, data.view)
  const { organization, team } = data
  const { id, slug } = organization
  const revision = Math.max(organization.revision, team.organization_revision ?? 0)
  if (Object.keys(patch).length > 0) await updateOrganization(deps, viewer, { name: id, patch, revision })
  return { done: 'saved', path: `${organizationPath((patch.slug ?? slug).toLowerCase())}/settings` }
}

function showGeneral(request: OwnRequest, data: ManagedOrganization, state: FormState): Promise<FastifyReply> {
  const { page, deps, t } = request
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
    body: isEditable
      ? [
          saveForm(page, {
            id: 'details',
            path: settings,
            content: ORGANIZATION_FIELDS.edit(page, stateOf(state), view),
          }),
          icon,
        ]
      : sheetPart({ id: 'details', content: ORGANIZATION_FIELDS.facts(page, view) }),
  })
}
