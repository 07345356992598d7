/** What the service wrote into the page; see src/http/console-pages.ts. */

function metaContent(name: string): string {
  const element = document.querySelector(`meta[name="countersign:${name}"]`)
  return element?.getAttribute('content') ?? ''
}

/** OIDC issuer that signs people in; empty when the service has none. */
export const ISSUER = metaContent('issuer')

/** The resource that tokens are asked for (RFC 8707). */
export const AUDIENCE = metaContent('audience')

/** Where the build's files are. */
export const ASSETS_PATH = '/console/assets'

/** Where the console lives below its origin. */
export const BASE_PATH = '/console'
