import { createHash, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { UsageError } from './exit-codes.js'
import type { Io } from './io.js'

/**
 * Sign-in of a person at the identity provider: authorization code with PKCE (RFC 7636), the
 * browser's answer taken on a loopback port of our own (RFC 8252). A token for the authorizers is
 * for them alone: the wallet service is never shown it.
 */
const CLIENT_ID = 'countersign-cli'
const PURPOSES = {
  console: { scope: 'openid email console' },
  authorizers: { scope: 'openid authorizers', resource: 'urn:countersign:authorizers' },
} as const
/** Of an installation that says nothing else (CONSOLE_AUDIENCE). */
const CONSOLE_AUDIENCE = 'urn:countersign:console'
const SIGN_IN_TIMEOUT_MS = 5 * 60_000
const REQUEST_TIMEOUT_MS = 10_000
const LOOPBACK = 'http://127.0.0.1'

const endpoints = z.object({ authorization_endpoint: z.url(), token_endpoint: z.url() })
const issued = z.object({ access_token: z.string(), expires_in: z.int().min(1) })

export interface SignInChoices {
  /** Of the browser's answer on loopback; default: a free one. */
  readonly port?: number | undefined
  /** That the token is for; default: the person's own. */
  readonly account?: string | undefined
}

export interface SignedIn {
  readonly token: string
  readonly expiresAtMs: number
}

/**
 * @param origin of the identity provider
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
      // Any program of this machine may ask: what is no URL is nobody's answer.
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
