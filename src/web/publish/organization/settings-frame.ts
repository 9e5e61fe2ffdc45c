// The frame of the organization settings: registration, subject, rail and notices.
import type { FastifyReply } from 'fastify'
import { hasOrganizationPermission, type OrganizationPermission } from '#features/basics/access/permissions.ts'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { type FormPage, formPage } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { hueClass } from '#web/site/names.ts'
import { html } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { viewOnly } from '#web/ui/parts/actions.ts'
import { face, note } from '#web/ui/parts/lists.ts'
import { listGrantors, type SettingsPage, showSettings, withLastEdit } from '../settings.ts'
import { loadManagedOrganization, type ManagedOrganization, may } from './managed-organization.ts'

type Section = { below: string; label: MessageKey; icon: IconName; isDanger?: boolean }

/** The sections of the organization settings, in the order of the rail. */
const SECTIONS: readonly Section[] = [
  { below: '', label: 'manage.general', icon: 'cog' },
  { below: '/members', label: 'people.members', icon: 'users' },
  { below: '/projects', label: 'publish.projects', icon: 'box' },
  { below: '/publishing', label: 'publishers.title', icon: 'key' },
  { below: '/webhooks', label: 'webhooks.title', icon: 'send' },
  { below: '/service-accounts', label: 'organizations.services.title', icon: 'plug' },
  { below: '/delete', label: 'organizations.delete', icon: 'trash', isDanger: true },
]

type OrganizationFormPage<Data extends ManagedOrganization> = Omit<FormPage<Data>, 'path'> & {
  /** Path below the settings: `/members`. */
  below: string
}

/** Registers a page like `organizationFormOf` that needs only the organization. */
export function organizationForm(pages: Pages, of: Omit<OrganizationFormPage<ManagedOrganization>, 'load'>): void {
  organizationFormOf(pages, { ...of, load: loadManagedOrganization })
}

/** Registers a page of the settings with a form. A path with an ID or capital letters leads to the canonical path. */
export function organizationFormOf<Data extends ManagedOrganization>(
  pages: Pages,
  { below, show, ...of }: OrganizationFormPage<Data>,
): void {
  formPage<Data>(pages, {
    ...of,
    path: `/organization/:name/settings${below}`,
    show: async (request, data, form) => {
      const { id, slug } = data.organization
      const isCanonical = form.isSubmitted || request.param('name') === slug
      if (!isCanonical) return request.redirectPermanently(`${data.settings}${below}`)
      return show(request, data, await withLastEdit(request, form, { kind: 'organization', id }))
    },
  })
}

/** Shows a page of the organization settings in their frame. */
export async function showOrganizationSettings(
  request: OwnRequest,
  data: ManagedOrganization,
  { needs, isToSee = false, notes, ...of }: SettingsPage<OrganizationPermission>,
): Promise<FastifyReply> {
  const { page, deps, t } = request
  const { view, settings, member, team } = data
  const members = team.members.filter(({ accepted }) => accepted)
  const canGrant = ({ organization_permissions }: (typeof members)[number]) =>
    hasOrganizationPermission(organization_permissions ?? 0, 'EDIT_MEMBER')
  return showSettings(request, of, {
    settings,
    subject: {
      name: view.name,
      tile: face({
        name: view.name,
        url: imageUrl(deps.config, view.icon_url),
        rawUrl: imageUrl(deps.config, view.raw_icon_url),
        isSquare: true,
      }),
      facts: [t('organizations.members', { count: members.length })],
      tools: html`<a class="button" href="${pathTo(page, data.path)}">${icon(page, 'eye')}${t('organizations.view')}</a>`,
      crumbs: [
        { path: PATHS.dashboardOrganizations, label: t('organizations.title') },
        { path: settings, label: view.name },
      ],
      hue: hueClass(view.color),
    },
    groups: [
      {
        items: SECTIONS.map(({ below, label, ...item }) => ({
          ...item,
          path: `${settings}${below}`,
          label: t(label),
          ...(below === '/members' ? { count: members.length } : {}),
        })),
      },
    ],
    notes: [
      member === undefined && note(page, 'warn', html`<p>${t('organizations.as-moderator')}</p>`),
      needs !== undefined &&
        !may(data, needs) &&
        viewOnly(page, {
          permission: t(`people.organization-permission.${needs}`),
          ask: await listGrantors(request, members.filter(canGrant)),
          isToSee,
        }),
      notes,
    ],
  })
}
