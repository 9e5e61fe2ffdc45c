// One row of the map of pages.

export type MappedPage = {
  /** Operation ID of the route. */
  operation: string
  /** Path, where `{type}` stands for each type of project. */
  path: string
  /** The users who can open the page. Others are led to sign in, or get 404. */
  who: 'everyone' | 'signed-in users' | 'members' | 'moderators' | 'operators'
  shows: string
  /** Operations of the API that the page shows or that its forms run. */
  api: readonly string[]
}

/** Returns a function that describes pages which are open to the same users. `api` separates operations by spaces. */
export const pagesFor =
  (who: MappedPage['who']) =>
  (operation: string, path: string, shows: string, api = ''): MappedPage => ({
    operation,
    path,
    who,
    shows,
    api: api.split(' ').filter(Boolean),
  })
