/** Path of the page on which a person answers an application's request. */
export const AUTHORIZE_PAGE = '/account/authorize'
