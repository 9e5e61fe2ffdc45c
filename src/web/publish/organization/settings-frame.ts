// The frame of the organization settings: registration, subject, rail and notices.
import type { FastifyReply } from 'fastify'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import type { UserView } from '#features/people/users/views.ts'
import { hasOrganizationPermission, type OrganizationPermission } from '#lib/access/permissions.ts'
import { html, type Part } from '#platform/html/html.ts'
import type { IconName } from '#platform/html/icons.ts'
import type { MessageKey } from '#platform/html/languages.ts'
import { face, note } from '#platform/html/lists.ts'
import { icon, pathTo } from '#platform/html/page-context.ts'
import { viewOnly } from '#platform/html/work/actions.ts'
import { sheetHead } from '#platform/html/work/frame.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { type FormPage, formPage } from '#web/kit/work/form-page.ts'
import { showWork, type WorkPage } from '#web/kit/work/work-page.ts'
import { hueClass } from '#web/site/names.ts'
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
    show: (request, data, form) => {
      const isCanonical = form.isSubmitted || request.param('name') === data.organization.slug
      return isCanonical ? show(request, data, form) : request.redirectPermanently(`${data.settings}${below}`)
    },
  })
}

type SettingsPage = Omit<WorkPage, 'subject' | 'sections' | 'title'> & {
  /** Path of the open section below `/settings`. */
  section: string
  heading: string
  text?: Part
  /** Permission that editing needs. Members without it see who can grant it. */
  needs?: OrganizationPermission
}

/** Shows a page of the organization settings in their frame. */
export async function showOrganizationSettings(
  request: OwnRequest,
  data: ManagedOrganization,
  of: SettingsPage,
): Promise<FastifyReply> {
  const { page, deps } = request
  const { t } = page.language
  const { section, heading, text, needs, body, notes, ...rest } = of
  const { view, settings, member, team } = data
  const more = [
    member === undefined && note(page, 'warn', html`<p>${t('organizations.as-moderator')}</p>`),
    needs !== undefined &&
      !may(data, needs) &&
      viewOnly(page, {
        permission: t(`people.organization-permission.${needs}`),
        ask: await listGrantors(request, data),
      }),
    notes,
  ].filter((part) => part !== undefined && part !== false && part !== null)
  const members = team.members.filter(({ accepted }) => accepted).length
  const hue = hueClass(view.color)
  return showWork(request, {
    ...rest,
    title: t('manage.title', { section: heading, name: view.name }),
    subject: {
      name: view.name,
      tile: face({
        name: view.name,
        url: imageUrl(deps.config, view.icon_url),
        rawUrl: imageUrl(deps.config, view.raw_icon_url),
        isSquare: true,
      }),
      facts: [t('organizations.members', { count: members })],
      tools: html`<a class="button" href="${pathTo(page, data.path)}">${icon(page, 'eye')}${t('organizations.view')}</a>`,
      crumbs: [
        { path: PATHS.dashboardOrganizations, label: t('organizations.title') },
        { path: settings, label: view.name },
      ],
      ...(hue === undefined ? {} : { hue }),
    },
    sections: {
      label: t('manage.sections', { name: view.name }),
      current: `${settings}${section}`,
      groups: [
        {
          items: SECTIONS.map(({ below, label, ...item }) => ({
            ...item,
            path: `${settings}${below}`,
            label: t(label),
            ...(below === '/members' ? { count: members } : {}),
          })),
        },
      ],
    },
    notes: more.length > 0 ? more : undefined,
    body: html`${sheetHead({ title: heading, ...(text === undefined ? {} : { text }) })}
${body}`,
  })
}

/** Maximum number of members that a sentence names. */
const NAMED_MAX = 3

/** Returns the usernames of members who can change permissions, the owner first. */
async function listGrantors({ deps }: OwnRequest, { team }: ManagedOrganization): Promise<string[]> {
  const ids = team.members
    .filter((row) => row.accepted && hasOrganizationPermission(row.organization_permissions ?? 0, 'EDIT_MEMBER'))
    .sort((a, b) => Number(b.is_owner) - Number(a.is_owner))
    .slice(0, NAMED_MAX)
    .map(({ account_id }) => account_id)
  const users = await listCachedUsers(deps, ids)
  return users.map(({ bytes }) => (JSON.parse(bytes.toString()) as UserView).username)
}
