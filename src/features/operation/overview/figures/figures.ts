// The figures of an instance, which are columns of `instance_figure`.

/** The count of each figure: of requests and jobs by their result, or of a business event. */
export const COUNT_OF = {
  requests: 'requests',
  limited: 'limited',
  refused: 'refused',
  failed: 'failed',
  downloads: 'file.downloaded',
  projects: 'project.created',
  versions: 'version.published',
  accounts: 'account.created',
  jobs_done: 'jobs_done',
  jobs_retried: 'jobs_retried',
  jobs_failed: 'jobs_failed',
  mails_sent: 'mails_sent',
  mails_rejected: 'mails_rejected',
} as const
export type Figure = keyof typeof COUNT_OF
export const FIGURES = Object.keys(COUNT_OF) as Figure[]

export const noFigures = (): Record<Figure, number> =>
  Object.fromEntries(FIGURES.map((figure) => [figure, 0])) as Record<Figure, number>
