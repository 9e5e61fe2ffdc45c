// Sample requests of the v2 API: the samples of v3, except where the request differs.
import { newId } from '#lib/ids.ts'
import { form, modJar, projectDataV2, versionDataV2 } from '#test/support/http/forms.ts'
import type { Sample } from './samples.ts'

/** Operations that take the same request in both versions, by their name without `V2`. */
const SAME = [
  'getProject',
  'checkProject',
  'listProjectDependencies',
  'listProjects',
  'listRandomProjects',
  'listProjectMembers',
  'getVersion',
  'listVersions',
  'listProjectVersions',
  'getProjectVersion',
  'getVersionByHash',
  'downloadByHash',
  'findUpdate',
  'listVersionsByHash',
  'listProjectsByHash',
  'findUpdates',
  'findUpdateLists',
  'findIndividualUpdates',
  'searchProjects',
  'listCategories',
  'listLoaders',
  'listLicenses',
  'listReportTypes',
  'listProjectTypes',
  'getLicense',
  'getStatistics',
  'getOwnUser',
  'getUser',
  'listUsers',
  'listUserProjects',
  'listUserFollows',
  'listUserNotifications',
  'listTeamMembers',
  'listTeams',
  'listNotifications',
  'getNotification',
  'getReport',
  'listReports',
  'listOpenReports',
  'getThread',
  'listThreads',
  'updateProjects',
  'deleteProject',
  'setProjectIcon',
  'deleteProjectIcon',
  'addGalleryPicture',
  'updateGalleryPicture',
  'removeGalleryPicture',
  'updateVersion',
  'deleteVersion',
  'addVersionFiles',
  'deleteVersionFile',
  'updateUser',
  'deleteUser',
  'setUserIcon',
  'deleteUserIcon',
  'followProject',
  'unfollowProject',
  'inviteTeamMember',
  'updateTeamMember',
  'removeTeamMember',
  'joinTeam',
  'transferTeamOwnership',
  'markNotificationsRead',
  'deleteNotifications',
  'markNotificationRead',
  'deleteNotification',
  'createReport',
  'updateReport',
  'deleteReport',
  'postThreadMessage',
  'deleteThreadMessage',
]

const inAYear = (): string => new Date(Date.now() + 365 * 86_400_000).toISOString()

const OWN: Record<string, Sample> = {
  createProjectV2: { raw: () => form(projectDataV2(`lantern-${newId().toLowerCase()}`)) },
  updateProjectV2: { at: { id: 'project' }, body: { description: 'A light to carry' } },
  scheduleProjectV2: { at: { id: 'project' }, body: () => ({ time: inAYear(), requested_status: 'approved' }) },
  createVersionV2: {
    raw: async (w) =>
      form(versionDataV2({ project_id: await w.id('project') }), [{ name: 'file', bytes: modJar(newId()) }]),
  },
  scheduleVersionV2: { at: { id: 'version' }, body: () => ({ time: inAYear(), requested_status: 'listed' }) },
  listGameVersionsV2: {},
  listDonationPlatformsV2: {},
  listSideTypesV2: {},
}

/** The samples of the v2 API, derived from those of the v3 API. */
export function samplesV2(samples: Record<string, Sample>): Record<string, Sample> {
  const same = SAME.map((name) => {
    const sample = samples[name]
    if (sample === undefined) throw new Error(`There is no sample of ${name}`)
    return [`${name}V2`, sample] as const
  })
  return { ...Object.fromEntries(same), ...OWN }
}
