import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { newAddress } from '../chain.js'
import { finalOf, type Stack } from '../stack.js'

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** What the service's log says of a transaction. */
export function describeStepLines(stack: () => Stack): void {
  describe('the log', () => {
    const lines = () =>
      readFileSync(join(stack().service.home, 'logs', 'service.log'), 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('{'))

    test('has one line for each step of a transaction, by its id and its request', async () => {
      const api = stack().service.api()
      const sent = await api.post(
        '/api/tx/send',
        { chain_id: 8_453, to: newAddress(), value: '1002', data: '0x' },
        { 'x-request-id': 'order-4713' },
      )
      expect(sent.status, sent.text).toBe(200)
      const txId = String(sent.json.tx_id)
      await finalOf(api, txId)
      const steps = ['reserved', 'screened', 'signed', 'stored', 'broadcast', 'mined', 'confirmed']
      await vi.waitFor(
        () => {
          const own = lines().filter((line) => line.includes(txId))
          const read = own.map((line) => JSON.parse(line) as Record<string, unknown>)
          expect(read.map(({ step }) => step)).toEqual(steps)
          expect(read[0]?.name).toMatch(/^worker-\d+$/)
          for (const line of read) {
            expect(line).toMatchObject({ level: 30, tx_id: txId, request_id: 'order-4713' })
            // One thread has all of a user's, whichever that is.
            expect(line).toMatchObject({ chain_id: 8_453, name: read[0]?.name })
            expect(line.time).toMatch(ISO_UTC)
          }
          const times = read.map(({ time }) => String(time))
          expect(times.toSorted()).toEqual(times)
        },
        { timeout: 20_000, interval: 100 },
      )
    })

    test('says of what is refused by which code, and of no call what it carries', async () => {
      const data = `0xa9059cbb${'5ec7e7'.padStart(64, '0')}${'1'.padStart(64, '0')}`
      const refused = await stack()
        .service.api()
        .post(
          '/api/tx/send',
          { chain_id: 8_453, to: newAddress(), value: '900000000000000000000000000', data },
          { 'x-request-id': 'order-4714' },
        )
      const code = refused.json.error?.code
      expect(refused.status, refused.text).toBeGreaterThanOrEqual(400)
      await vi.waitFor(
        () => {
          const own = lines().filter((line) => line.includes('"order-4714"'))
          expect(own.map((line) => JSON.parse(line))).toEqual([
            expect.objectContaining({ step: 'refused', code, request_id: 'order-4714' }),
          ])
        },
        { timeout: 20_000, interval: 100 },
      )
      expect(lines().join('\n')).not.toContain('5ec7e7')
    })
  })
}
