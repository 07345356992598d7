import { readFileSync } from 'node:fs'
import { Registry } from 'prom-client'
import { describe, expect, test, vi } from 'vitest'
import { ONE_CELL } from '../../../src/domain/cells.js'
import { createJournalMetrics } from '../../../src/service/journal-metrics.js'
import { newAddress } from '../chain.js'
import { finalOf, type Stack } from '../stack.js'

const DIRECTORY = 'scripts/observability'

export interface MetricsPorts {
  readonly service: number
  readonly identityProvider: number
}

/** What is shown of the sends of the tests before, and what dashboard and alerts rest on. */
export function describeMetrics(stack: () => Stack, ports: () => MetricsPorts): void {
  describe('metrics', () => {
    const shown = async (port: number) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()

    test('a send is counted at each step, by both domains that approve it', async () => {
      const { service } = stack()
      const api = service.api()
      const before = await shown(ports().service)
      const sent = await api.post('/api/tx/send', {
        chain_id: 8_453,
        to: newAddress(),
        value: '1000',
        data: '0x',
      })
      expect(sent.json.status, sent.text).toBe('broadcast')
      await finalOf(api, sent.json.tx_id)
      const steps = ['reserved', 'screened', 'signed', 'stored', 'broadcast', 'mined', 'confirmed']
      const labelled = (state: string) =>
        `countersign_transactions_total{chain_id="8453",state="${state}"}`
      const text = await shown(ports().service)
      for (const step of steps) {
        const counts = [before, text].map((one) => shownValue(one, labelled(step)))
        expect(counts[1], step).toBeGreaterThan(counts[0] ?? 0)
      }
      for (const part of [
        'signing',
        'approval',
        'joining',
        'commit',
        'broadcast',
        'confirmation',
      ]) {
        expect(
          shownValue(text, `countersign_${part}_duration_seconds_count`),
          part,
        ).toBeGreaterThan(0)
        expect(shownValue(text, `countersign_${part}_duration_seconds_sum`), part).toBeGreaterThan(
          0,
        )
      }
      const approvals = await shown(ports().identityProvider)
      expect(
        shownValue(approvals, 'countersign_approvals_total{outcome="approved"}'),
      ).toBeGreaterThan(0)
    })

    test('what a cap refuses is counted by its code', async () => {
      const series = 'countersign_refusals_total{code="LIMIT_EXCEEDED"}'
      const before = shownValue(await shown(ports().service), series)
      const refused = await stack().service.api().post('/api/tx/send', {
        chain_id: 8_453,
        to: newAddress(),
        value: '900000000000000000000000000',
        data: '0x',
      })
      expect(refused.json.error?.code, refused.text).toBe('LIMIT_EXCEEDED')
      expect(shownValue(await shown(ports().service), series)).toBe((before ?? 0) + 1)
    })

    test('the state of all that money waits for can be seen', async () => {
      // A process that the machine keeps waiting is out of reach for as long.
      await vi.waitFor(
        async () => {
          const now = await shown(ports().service)
          expect(shownValue(now, 'countersign_quorum_complete')).toBe(1)
          expect(shownValue(now, 'countersign_quorum_fenced')).toBe(0)
          for (const domain of ['identity_provider', 'quorum_signer']) {
            expect(shownValue(now, `countersign_domain_reachable{domain="${domain}"}`)).toBe(1)
          }
        },
        { timeout: 20_000, interval: 200 },
      )
      const text = await shown(ports().service)
      expect(shownValue(text, 'countersign_freezes{scope="instance"}')).toBe(0)
      const free = shownValue(text, 'countersign_disk_free_bytes')
      expect(free).toBeGreaterThan(shownValue(text, 'countersign_disk_floor_bytes') ?? Infinity)
      const usable = text.match(/^countersign_price_usable\{chain_id="8453",feed="[^"]+"\} 1$/gm)
      expect(usable?.length).toBeGreaterThan(0)
    })

    test('an endpoint that does not take events shows as a backlog with an age', async () => {
      const { service, owner } = stack()
      const made = await owner.post('/webhooks', { url: 'http://127.0.0.1:9/nobody' })
      expect(made.status, made.text).toBe(201)
      const sent = await service.api().post('/api/tx/send', {
        chain_id: 8_453,
        to: newAddress(),
        value: '1001',
        data: '0x',
      })
      expect(sent.status, sent.text).toBeLessThan(300)
      await vi.waitFor(
        async () => {
          const text = await shown(ports().service)
          expect(shownValue(text, 'countersign_webhook_backlog_events')).toBeGreaterThan(0)
          expect(shownValue(text, 'countersign_webhook_oldest_seconds')).toBeGreaterThan(0)
        },
        { timeout: 20_000, interval: 200 },
      )
    })

    test('every metric that the dashboard and the alerts name is there', async () => {
      const both = [
        await shown(ports().service),
        await shown(ports().identityProvider),
        // Of a service with a journal alone, which this one is not.
        await journalMetrics(),
      ].join('\n')
      const named = new Set([...expressionsOf('dashboard.json'), ...expressionsOf('alerts.yml')])
      expect(named.size).toBeGreaterThan(30)
      const types = new Set([...both.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name))
      for (const name of named) {
        const family = name.replace(/_(bucket|sum|count)$/, '')
        expect(types.has(name) || types.has(family), name).toBe(true)
      }
    })
  })
}

function journalMetrics(): Promise<string> {
  const registry = new Registry()
  const readings = { stored: 0, waiting: 0, appendedBytes: 0 }
  createJournalMetrics(registry).show(
    { leadership: { journal: '', epoch: 1, cell: ONE_CELL }, readings },
    { readings: { newest: null, tailBytes: 0, failures: 0 } },
  )
  return registry.metrics()
}

function expressionsOf(file: string): string[] {
  const text = readFileSync(`${DIRECTORY}/${file}`, 'utf8')
  const lines = file.endsWith('.json') ? text.match(/"expr": ".*"/g)?.join('\n') : text
  return (lines ?? '').match(/\bcountersign_\w+/g) ?? []
}

function shownValue(text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}
