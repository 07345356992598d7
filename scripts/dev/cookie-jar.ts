/** The browser behaviour with cookies that one sign-in on one origin needs. */
export interface CookieJar {
  store(setCookieHeaders: readonly string[], requestUrl: URL): void
  /** Value of the `Cookie` header for a request; empty when none match. */
  header(requestUrl: URL): string
}

interface Cookie {
  readonly name: string
  readonly value: string
  readonly path: string
}

/** RFC 6265 without domains and expiry dates in the future: a sign-in lasts seconds. */
export function createCookieJar(): CookieJar {
  const cookies = new Map<string, Cookie>()
  return {
    store(setCookieHeaders, requestUrl) {
      for (const line of setCookieHeaders) {
        const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
        const name = pair.slice(0, pair.indexOf('='))
        const value = pair.slice(pair.indexOf('=') + 1)
        const path = attributeOf(attributes, 'path') ?? defaultPath(requestUrl.pathname)
        const expires = attributeOf(attributes, 'expires')
        const key = `${name};${path}`
        if (expires !== undefined && Date.parse(expires) <= Date.now()) cookies.delete(key)
        else cookies.set(key, { name, value, path })
      }
    },
    header(requestUrl) {
      return [...cookies.values()]
        .filter(({ path }) => pathMatches(requestUrl.pathname, path))
        .map(({ name, value }) => `${name}=${value}`)
        .join('; ')
    },
  }
}

function attributeOf(attributes: readonly string[], name: string): string | undefined {
  const found = attributes.find((text) => text.toLowerCase().startsWith(`${name}=`))
  return found?.slice(name.length + 1)
}

/** RFC 6265, section 5.1.4. */
function defaultPath(requestPath: string): string {
  return requestPath.slice(0, requestPath.lastIndexOf('/')) || '/'
}

function pathMatches(requestPath: string, path: string): boolean {
  if (requestPath === path) return true
  return requestPath.startsWith(path) && (path.endsWith('/') || requestPath[path.length] === '/')
}
