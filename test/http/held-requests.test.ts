import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  createHeldRequests,
  type HeldRequest,
  type HeldRequests,
} from '../../src/http/held-requests.js'
import { createAcceptingApp } from '../../src/http/node-http/node-app.js'

/** What is kept until another server answers it, over real connections. */
describe('requests that are held', () => {
  let server: Server
  let url: string
  let held: HeldRequests
  let isDraining: boolean
  const whole: HeldRequest[] = []

  beforeEach(async () => {
    isDraining = false
    whole.length = 0
    held = createHeldRequests({
      ...{ heldMax: 3, bytesMax: 1_024, bodyBytesMax: 256, ofClientMax: 2, bytesOfClientMax: 384 },
      isDraining: () => isDraining,
    })
    const { app, accept } = createAcceptingApp()
    app.any('/*', (response, request) =>
      held.hold(response, request, (one) => whole.push(one), request.getUrl()),
    )
    server = createServer()
    server.removeAllListeners('connection')
    server.on('connection', accept)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(() => {
    for (const one of whole) if (!one.gone) one.response.close()
    server.close()
  })

  const ask = (client: string, body = 'x') =>
    fetch(`${url}/${client}`, { method: 'POST', body }).then(
      async (answer) => ({ status: answer.status, closes: answer.headers.get('connection') }),
      () => null,
    )
  const isWhole = (count: number) => expect.poll(() => whole.length).toBe(count)

  function answer(one: HeldRequest | undefined): void {
    one?.response.cork(() => one.response.end('{}', one.closes))
    if (one !== undefined) held.leave(one)
  }

  test('leave places to others than one client', async () => {
    const first = [ask('one'), ask('one')]
    await isWhole(2)
    expect(await ask('one')).toMatchObject({ status: 503 })
    const other = ask('other')
    await isWhole(3)
    expect(await ask('third')).toMatchObject({ status: 503 })
    answer(whole[0])
    const next = ask('one')
    await isWhole(4)
    for (const one of whole.slice(1)) answer(one)
    for (const asked of [...first, other, next]) {
      expect(await asked).toMatchObject({ status: 200 })
    }
    expect(held.size).toBe(0)
  })

  test('leave memory to others than one client, who has it again once it is answered', async () => {
    const long = 'x'.repeat(256)
    const first = ask('one', long)
    await isWhole(1)
    expect(await ask('one', long)).toMatchObject({ status: 503 })
    const other = ask('other', long)
    await isWhole(2)
    answer(whole[0])
    const again = ask('one', long)
    await isWhole(3)
    for (const one of whole.slice(1)) answer(one)
    for (const asked of [first, other, again]) expect(await asked).toMatchObject({ status: 200 })
    expect(held.size).toBe(0)
  })

  test('close their connection with the answer once the node ends', async () => {
    const before = ask('one')
    await isWhole(1)
    isDraining = true
    answer(whole[0])
    expect(await before).toEqual({ status: 200, closes: 'close' })
    isDraining = false
    const after = ask('one')
    await isWhole(2)
    answer(whole[1])
    expect((await after)?.closes).not.toBe('close')
  })
})
