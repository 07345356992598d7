import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import {
  askProvider,
  SignInError,
  UnreachableError,
} from '../../src/console/session/ask-provider.js'
import { heldTokens, type Tokens } from '../../src/console/session/held-tokens.js'

/** How the console stays signed in, and what is left of it when it is not. */

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

async function startProvider(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const NOW_MS = 1_000_000
const token = (name: string, lifeMs: number): Tokens => ({
  ...{ accessToken: name, refreshToken: `refresh ${name}`, expiresAtMs: NOW_MS + lifeMs },
})

function holder(refresh: (refreshToken: string) => Promise<Tokens>) {
  let ended = 0
  const held = heldTokens({
    refresh,
    isAway: (error) => error instanceof UnreachableError,
    onEnded: () => {
      ended++
    },
    nowMs: () => NOW_MS,
  })
  return { held, ended: () => ended }
}

test('a refresh token is used once, however many ask, and the next one is the new one', async () => {
  const used: string[] = []
  const { held } = holder(async (refreshToken) => {
    used.push(refreshToken)
    return token(`b${used.length}`, 600_000)
  })
  held.hold(token('a', 1_000))
  expect(await Promise.all([held.access(), held.access(), held.access('a')])).toEqual([
    ...['b1', 'b1', 'b1'],
  ])
  expect(await held.access()).toBe('b1')
  expect(await held.access('b1'), 'the service would not take it').toBe('b2')
  expect(used).toEqual(['refresh a', 'refresh b1'])
})

test('whoever signs out while a token is refreshed is signed out, and the token is not kept', async () => {
  let answer: (tokens: Tokens) => void = () => undefined
  const { held, ended } = holder(
    () =>
      new Promise((resolve) => {
        answer = resolve
      }),
  )
  held.hold(token('a', 1_000))
  const asked = held.access()
  held.drop()
  answer(token('late', 600_000))
  await expect(asked).rejects.toThrow('signed out')
  await expect(held.access()).rejects.toThrow('signed out')
  expect(ended(), 'nobody is told that a sign-in ended which they ended').toBe(0)
})

test('a refusal ends the sign-in; a provider that is away does not', async () => {
  let failure: Error = new UnreachableError('away')
  const { held, ended } = holder(() => Promise.reject(failure))
  held.hold(token('a', 30_000))
  await expect(held.access()).rejects.toThrow('away')
  expect(ended()).toBe(0)
  failure = new SignInError('refused')
  await expect(held.access()).rejects.toThrow('refused')
  expect(ended()).toBe(1)
  await expect(held.access()).rejects.toThrow('signed out')
})

test.each([500, 502, 503, 429])(
  'a provider that answers %i has said nothing about the session',
  async (status) => {
    const issuer = await startProvider((_request, response) => {
      response.writeHead(status, { 'Content-Type': 'application/json' })
      response.end('{"error":"server_error"}')
    })
    await expect(askProvider(issuer, `${issuer}/token`)).rejects.toBeInstanceOf(UnreachableError)
  },
)

test('nor has one that breaks off, or is not there; a refusal is its answer', async () => {
  const issuer = await startProvider(({ url }, response) => {
    if (url === '/refused') {
      response.writeHead(400, { 'Content-Type': 'application/json' })
      response.end('{"error":"invalid_grant"}')
      return
    }
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' })
    response.write('{"access_token":', () => response.destroy())
  })
  await expect(askProvider(issuer, `${issuer}/cut`)).rejects.toBeInstanceOf(UnreachableError)
  expect(await askProvider(issuer, `${issuer}/refused`)).toEqual({
    ...{ ok: false, body: { error: 'invalid_grant' } },
  })
  for (const close of closers.splice(0)) close()
  await expect(askProvider(issuer, `${issuer}/gone`)).rejects.toBeInstanceOf(UnreachableError)
})
