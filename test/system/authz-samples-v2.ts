// Sample requests of the older API: those of the newer one, except where it is asked in another way.
import type { Sample } from './authz-samples.ts'

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
]

const OWN: Record<string, Sample> = {
  listGameVersionsV2: {},
  listDonationPlatformsV2: {},
  listSideTypesV2: {},
}

/** The samples of the older API, out of those of the newer one. */
export function samplesV2(samples: Record<string, Sample>): Record<string, Sample> {
  const same = SAME.map((name) => {
    const sample = samples[name]
    if (sample === undefined) throw new Error(`There is no sample of ${name}`)
    return [`${name}V2`, sample] as const
  })
  return { ...Object.fromEntries(same), ...OWN }
}
