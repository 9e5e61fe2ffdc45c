// The frame of the project settings: registration below every path of a project, subject, rail and notices.
import type { FastifyReply } from 'fastify'
import { hasProjectPermission, type ProjectPermission } from '#features/basics/access/permissions.ts'
import { isMember } from '#features/basics/access/project-policy.ts'
import { isModerator } from '#features/basics/access/viewer.ts'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { listOwningTeams } from '#features/community/organizations/organization-cache.ts'
import { shownProjectMembers } from '#features/community/teams/member-lists.ts'
import { listCachedTeams } from '#features/community/teams/team-cache.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { type FormPage, formPage } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, projectSegments } from '#web/kit/paths.ts'
import type { WorkPage } from '#web/kit/work-page.ts'
import { tile } from '#web/site/lists/rows.ts'
import { hueClass } from '#web/site/names.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { viewOnly } from '#web/ui/parts/actions.ts'
import type { RailItem } from '#web/ui/parts/frame.ts'
import { note } from '#web/ui/parts/lists.ts'
import { statusOf } from '#web/ui/parts/status.ts'
import { checklistSummary } from '../review/checklist-view.ts'
import { listGrantors, type SettingsPage, showSettings, withLastEdit } from '../settings.ts'
import { loadManagedProject, type ManagedProject, may } from './managed-project.ts'

type ProjectFormPage<Data extends ManagedProject> = Omit<FormPage<Data>, 'path'> & {
  /** Path below the project: `/settings/links`. */
  below: string
  /** Returns the changed field of the project for a field of the form, as `withLastEdit` expects it. */
  editedField?: (name: string) => string
}

/** Registers a page like `projectFormOf` that needs only the project. */
export function projectForm(pages: Pages, taxonomy: Taxonomy, of: Omit<ProjectFormPage<ManagedProject>, 'load'>): void {
  projectFormOf(pages, taxonomy, { ...of, load: loadManagedProject })
}

/** Registers a page with a form below the path of each type of project. Other paths of the project lead to this path. */
export function projectFormOf<Data extends ManagedProject>(
  pages: Pages,
  taxonomy: Taxonomy,
  { below, show, editedField, ...of }: ProjectFormPage<Data>,
): void {
  for (const segment of projectSegments(taxonomy))
    formPage<Data>(pages, {
      ...of,
      path: `/${segment}/:slug${below}`,
      show: (request, data, form) =>
        (form.isSubmitted ? undefined : toCanonical(request, data)) ??
        withLastEdit(request, form, { kind: 'project', id: data.project.id }, editedField).then((state) =>
          show(request, data, state),
        ),
    })
}

/** Leads to the path of the project if the URL contains another type, an ID or a previous slug. */
export function toCanonical(
  { page, redirectPermanently }: OwnRequest,
  { path }: ManagedProject,
): FastifyReply | undefined {
  const [, , , ...below] = (page.address.split('?')[0] ?? '').split('/')
  const canonical = [path, ...below].join('/')
  const isCanonical = decodeURIComponent(page.address.split('?')[0] ?? '') === decodeURIComponent(canonical)
  return isCanonical ? undefined : redirectPermanently(canonical)
}

/** Shows a page of the project settings in their frame. */
export async function showProjectSettings(
  request: OwnRequest,
  data: ManagedProject,
  { needs, isToSee = false, notes, ...of }: SettingsPage<ProjectPermission>,
): Promise<FastifyReply> {
  const { page, t } = request
  return showSettings(request, of, {
    settings: data.settings,
    subject: projectSubject(request, data),
    groups: SECTIONS.map(({ title, items }) => ({
      ...(title === undefined ? {} : { title: t(title) }),
      items: items.map(({ below, label, count, ...item }) => ({
        ...item,
        path: `${data.settings}${below}`,
        label: t(label),
        ...count?.(data),
      })),
    })),
    notes: [
      asModeratorNote(request, data),
      needs !== undefined &&
        !may(data, needs) &&
        viewOnly(page, {
          permission: t(`work.permission.${needs}`),
          ask: await listGrantors(request, await listWhoGrant(request, data)),
          isToSee,
        }),
      of.section !== '/review' && (await checklistSummary(page, request.deps.db, data)),
      notes,
    ],
  })
}

/** Returns the head of a project: status, organization, number of versions, last change. */
export function projectSubject({ page, deps }: OwnRequest, data: ManagedProject): WorkPage['subject'] {
  const { language } = page
  const { view, path, organization } = data
  return {
    name: view.name,
    tile: tile(page, { iconUrl: imageUrl(deps.config, view.icon_url), rawUrl: view.raw_icon_url }, 35),
    facts: [
      statusOf(page, 'project', view.status),
      organization !== undefined && html`${icon(page, 'building')}<bdi>${organization}</bdi>`,
      language.t('manage.versions-count', { count: view.versions.length }),
      language.rich('site.updated-at', { at: timeAgo(language, new Date(view.updated), page.now) }),
    ],
    tools: html`<a class="button" href="${pathTo(page, path)}">${icon(page, 'eye')}${language.t('manage.view')}</a>`,
    crumbs: [
      { path: PATHS.dashboardProjects, label: language.t('work.projects') },
      { path: data.settings, label: view.name },
    ],
    hue: hueClass(view.color),
  }
}

/** Moderators who are not members change what the API lets them change. */
function asModeratorNote({ page, viewer }: OwnRequest, { membership }: ManagedProject): Part {
  if (isMember(membership) || !isModerator(viewer)) return false
  return note(page, 'warn', html`<p>${page.language.t('manage.as-moderator')}</p>`)
}

/** Returns the members who can change permissions. */
async function listWhoGrant({ deps, viewer }: OwnRequest, { project }: ManagedProject) {
  const { team_id, organization_id } = project
  const team = (await listCachedTeams(deps, [team_id])).get(team_id)
  const owning = await listOwningTeams(deps, [{ organization_id }])
  const shown = team === undefined ? [] : shownProjectMembers(team, viewer, owning.get(organization_id ?? ''))
  return shown
    .map(({ row }) => row)
    .filter((row) => row.accepted && (row.is_owner || hasProjectPermission(row.permissions, 'EDIT_MEMBER')))
}

type Section = {
  /** Path below `…/settings`. */
  below: string
  label: MessageKey
  icon: IconName
  /** Count and mark of the entry. */
  count?: (data: ManagedProject) => Pick<RailItem, 'count' | 'mark'>
  isDanger?: boolean
}

const SECTIONS: readonly { title?: MessageKey; items: readonly Section[] }[] = [
  {
    items: [
      { below: '', label: 'manage.general', icon: 'cog' },
      { below: '/description', label: 'manage.description', icon: 'book' },
      { below: '/tags', label: 'manage.tags', icon: 'tags' },
      { below: '/links', label: 'manage.links', icon: 'link' },
      {
        below: '/gallery',
        label: 'manage.gallery',
        icon: 'image',
        count: ({ view }) => ({ count: view.gallery.length }),
      },
      { below: '/versions', label: 'upload.versions', icon: 'package' },
    ],
  },
  {
    title: 'manage.group.project',
    items: [
      { below: '/members', label: 'people.members', icon: 'users' },
      { below: '/organization', label: 'people.organization', icon: 'building' },
      { below: '/analytics', label: 'numbers.title', icon: 'chart' },
      { below: '/revenue', label: 'revenue.project', icon: 'coins' },
      { below: '/badges', label: 'manage.badges', icon: 'shield' },
      { below: '/publishing', label: 'publishers.title', icon: 'key' },
      { below: '/advisories', label: 'advisories.title', icon: 'warning' },
      { below: '/webhooks', label: 'webhooks.title', icon: 'send' },
      { below: '/visibility', label: 'people.visibility', icon: 'eye' },
      { below: '/review', label: 'publish.review', icon: 'gavel' },
      { below: '/transfer', label: 'people.transfer', icon: 'transfer' },
      { below: '/delete', label: 'people.delete', icon: 'trash', isDanger: true },
    ],
  },
]
