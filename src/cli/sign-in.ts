import { createHash, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { CONSOLE_AUDIENCE } from '../domain/console-audience.js'
import { UsageError } from './exit-codes.js'
import type { Io } from './io.js'

/**
 * Signs a person in at the identity provider: authorization code with PKCE (RFC 7636), with the
 * browser's answer on a loopback port (RFC 8252). A token for the authorizers is used only there:
 * the wallet service never sees it.
 */
const CLIENT_ID = 'countersign-cli'
const PURPOSES = {
  console: { scope: 'openid email console' },
  authorizers: { scope: 'openid authorizers', resource: 'urn:countersign:authorizers' },
} as const
const SIGN_IN_TIMEOUT_MS = 5 * 60_000
const REQUEST_TIMEOUT_MS = 10_000
const LOOPBACK = 'http://127.0.0.1'

const endpoints = z.object({ authorization_endpoint: z.url(), token_endpoint: z.url() })
const issued = z.object({ access_token: z.string(), expires_in: z.int().min(1) })

interface SignInChoices {
  /** The loopback port for the browser's answer; by default a free one. */
  readonly port?: number | undefined
  /** The account that the token is for; by default the person's own. */
  readonly account?: string | undefined
}

interface SignedIn {
  readonly token: string
  readonly expiresAtMs: number
}

/**
 * @param origin the identity provider's origin
 * @throws UsageError when nobody signs in within five minutes, or the identity provider refuses
 */
export async function signIn(
  io: Io,
  origin: string,
  purpose: keyof typeof PURPOSES,
  { port: wantedPort = 0, account }: SignInChoices = {},
): Promise<SignedIn> {
  const found = endpoints.parse(await getJson(`${origin}/.well-known/openid-configuration`))
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(16).toString('base64url')
  const server = createServer()
  try {
    const port = await listen(server, wantedPort)
    const redirectUri = `http://127.0.0.1:${port}/callback`
    const url = new URL(found.authorization_endpoint)
    url.search = new URLSearchParams({
      client_id: CLIENT_ID,
      response_type: 'code',
      ...PURPOSES[purpose],
      ...(account === undefined ? {} : { resource: `${CONSOLE_AUDIENCE}?account=${account}` }),
      redirect_uri: redirectUri,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state,
    }).toString()
    io.err(`Sign in with your browser:\n  ${url.href}\n`)
    const code = await answerOf(server, state)
    const answer = await getJson(found.token_endpoint, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: CLIENT_ID,
        redirect_uri: redirectUri,
        code,
        code_verifier: verifier,
      }),
    })
    const { access_token, expires_in } = issued.parse(answer)
    return { token: access_token, expiresAtMs: Date.now() + expires_in * 1_000 }
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

function answerOf(server: Server, state: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new UsageError('nobody signed in')), SIGN_IN_TIMEOUT_MS)
    server.on('request', (request, response) => {
      // Any program on this machine may send a request; an invalid URL is ignored.
      const target = request.url ?? '/'
      const asked = URL.canParse(target, LOOPBACK) ? target : '/'
      const query = new URL(asked, LOOPBACK).searchParams
      const code = query.get('code')
      const isOurs = query.get('state') === state
      response.writeHead(isOurs ? 200 : 404, { 'Content-Type': 'text/plain; charset=utf-8' })
      response.end(isOurs ? 'Done. Go back to the terminal.\n' : 'Not found.\n')
      if (!isOurs) return
      clearTimeout(timer)
      if (code !== null) resolve(code)
      else reject(new UsageError(`not signed in: ${query.get('error') ?? 'no reason given'}`))
    })
  })
}

function listen(server: Server, wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(wanted, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

async function getJson(url: string, init: RequestInit = {}): Promise<unknown> {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  const response = await fetch(url, { ...init, signal })
  if (!response.ok) throw new UsageError(`${new URL(url).origin} answered ${response.status}`)
  return response.json()
}
