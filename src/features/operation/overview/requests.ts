// Requests for the overview and for server errors.
import Type from 'typebox'
import { PageQuery } from '#platform/http/query-values.ts'
import { PERIOD_NAMES } from './figures/periods.ts'

const period = Type.Optional(Type.Enum(PERIOD_NAMES, { default: '24h', description: 'Period that ends now' }))

export const OverviewQuery = Type.Object({ period })

export const ErrorsQuery = Type.Object({ ...PageQuery.properties, period })
