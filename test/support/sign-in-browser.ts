import { createCookieJar } from '../../scripts/dev/cookie-jar.js'

/**
 * What a person's browser does at the identity provider: it follows redirects, keeps cookies, and
 * fills in forms.
 */
export interface SignInBrowser {
  /** Follows redirects and fills in forms until it reaches a page without one. */
  open(address: string): Promise<OpenedPage>
  /** Follows redirects to the first page and leaves its forms unchanged. */
  look(address: string): Promise<OpenedPage>
  /** Returns the value of the `Cookie` header for a request from a page's script. */
  cookies(url: URL): string
}

interface OpenedPage {
  readonly url: URL
  readonly html: string
  /** Its content security policy. */
  readonly policy: string
}

const HOPS_MAX = 16

export function createSignInBrowser(user: {
  readonly email: string
  readonly password: string
}): SignInBrowser {
  const jar = createCookieJar()
  const look = (address: string) => browse(address, 'leave-forms')
  const open = (address: string) => browse(address, 'fill-forms')
  return { cookies: (url) => jar.header(url), look, open }

  async function browse(address: string, forms: 'leave-forms' | 'fill-forms'): Promise<OpenedPage> {
    let url = new URL(address)
    let form: URLSearchParams | null = null
    for (let hop = 0; hop < HOPS_MAX; hop++) {
      const response: Response = await fetch(url, {
        redirect: 'manual',
        headers: { cookie: jar.header(url) },
        ...(form === null ? {} : { method: 'POST', body: form }),
      })
      jar.store(response.headers.getSetCookie(), url)
      const location = response.headers.get('location')
      form = null
      if (location !== null) {
        url = new URL(location, url)
        continue
      }
      const html = await response.text()
      const action = /<form method="post" action="([^"]+)"/.exec(html)?.[1]
      const policy = response.headers.get('content-security-policy') ?? ''
      if (action === undefined || forms === 'leave-forms') return { url, html, policy }
      url = new URL(action, url)
      form = html.includes('name="password"')
        ? new URLSearchParams({ email: user.email, password: user.password })
        : new URLSearchParams()
    }
    throw new Error('too many redirects')
  }
}
