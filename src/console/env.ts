/** Values that the service wrote into the page; see src/http/console-pages.ts. */

function metaContent(name: string): string {
  const element = document.querySelector(`meta[name="countersign:${name}"]`)
  return element?.getAttribute('content') ?? ''
}

/** OIDC issuer that signs people in; empty if the service has none. */
export const ISSUER = metaContent('issuer')

/** The resource that tokens are requested for (RFC 8707). */
export const AUDIENCE = metaContent('audience')

/** Path of the console below its origin. */
export const BASE_PATH = '/console'
