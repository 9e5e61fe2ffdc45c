// The account pages in every look.
import { lookAtPages } from '#test/support/browser/looks.ts'
import { makeAccountPages } from '#test/support/pages/account-pages.ts'

lookAtPages(makeAccountPages)
