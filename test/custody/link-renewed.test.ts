import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { putInPlace } from '../support/put-in-place.js'
import { linkWorld } from './link-world.js'

const link = linkWorld()

describe('a certificate that is renewed', () => {
  test('of the identity provider is served without a restart, and ends no connection', async () => {
    const client = await link.answers(link.endpoint(link.service))
    const before = await link.servedSerial()
    const next = link.renewed('identity-next')
    putInPlace(next.certificate, link.files.certificate)
    putInPlace(next.key, link.files.key)
    await expect.poll(() => link.servedSerial()).not.toBe(before)
    expect(await client.call('sum', [5, 5])).toBe(10)
    await link.answers(link.endpoint(link.service))
    expect(link.said.join()).toContain('uses a renewed certificate')
  })

  test('and is of no use is named, and the one before goes on', async () => {
    const before = await link.servedSerial()
    const next = link.renewed('identity-half')
    putInPlace(next.certificate, link.files.certificate)
    await expect.poll(() => link.said.join()).toContain(`${link.files.key} is not the key of`)
    expect(await link.servedSerial()).toBe(before)
    await link.answers(link.endpoint(link.service))
    // Its key comes late, and others could read it; then they cannot.
    putInPlace(next.key, link.files.key)
    await expect.poll(() => link.servedSerial()).not.toBe(before)
    expect(link.said.filter((line) => line.includes('is not the key of'))).toHaveLength(1)
    expect(link.said.join()).not.toContain('PRIVATE KEY')
  })

  test('of the authority lets those of the next one in, and no longer those of the last', async () => {
    putInPlace(link.stranger.certificate, link.files.authority)
    const foreign = link.stranger.issue('next-service', { usage: 'clientAuth' })
    await expect.poll(() => link.said.join()).toContain('uses a renewed certificate')
    await link.answers(link.endpoint(foreign))
    expect(await link.refusal(link.endpoint(link.service))).toMatch(/certificate of this side/)
  })

  test('of the service counts from its next connection on', async () => {
    const own = join(link.directory, 'service-files')
    mkdirSync(own)
    const mine = { certificate: join(own, 'service.pem'), key: join(own, 'service.key') }
    const ended = link.authority.issue('service-ended', { usage: 'clientAuth', days: -1 })
    putInPlace(ended.certificate, mine.certificate)
    putInPlace(ended.key, mine.key)
    const { client, reasons } = link.dial(link.endpoint(mine))
    await expect.poll(() => reasons.length).toBeGreaterThan(1)
    putInPlace(link.service.certificate, mine.certificate)
    putInPlace(link.service.key, mine.key)
    await expect.poll(() => client.answering).toBe(true)
    // A file that is gone is a connection that fails, and says which.
    rmSync(mine.key)
    client.reset()
    await expect.poll(() => reasons.join()).toContain(mine.key)
    putInPlace(link.service.key, mine.key)
    await expect.poll(() => client.answering).toBe(true)
  })
})
