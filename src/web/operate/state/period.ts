// The period that the URL names.
import { PERIOD_NAMES, type Period } from '#features/operation/overview/figures/periods.ts'
import type { OwnRequest } from '#web/kit/pages.ts'

/** Returns the period in the URL, otherwise 24 hours. */
export const periodOf = ({ query }: Pick<OwnRequest, 'query'>): Period =>
  PERIOD_NAMES.find((name) => name === query('period')) ?? '24h'
