import fc from 'fast-check'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import {
  type PartReport,
  partsShownToAll,
  type Readiness,
  shownToAll,
} from '../../src/http/health-routes.js'
import { listenForMetrics } from '../../src/http/metrics-listener.js'
import { standbyAnswers } from '../../src/http/standby-answers.js'

const FACTS = [
  'standby',
  'loaded',
  'behind',
  'epoch',
  'hindered',
  'restored_percent',
  'id',
  'fenced',
]
const SECRETS = [
  'reason',
  'chains',
  'missing',
  'stale',
  'free_mib',
  'head',
  'host',
  'version',
  'gap',
]

const value = fc.oneof(
  fc.string({ minLength: 8 }).map((text) => `secret ${text}`),
  fc.array(fc.string().map((text) => `secret ${text}`)),
  fc.record({ reason: fc.constant('secret'), head: fc.constant('secret 7') }),
)
const report: fc.Arbitrary<PartReport> = fc
  .record({
    status: fc.constantFrom('up', 'degraded', 'down'),
    shown: fc.dictionary(fc.constantFrom(...FACTS), fc.oneof(fc.boolean(), fc.nat())),
    hidden: fc.dictionary(
      fc.oneof(fc.constantFrom(...SECRETS), fc.string({ minLength: 3 })),
      value,
    ),
  })
  .map(({ status, shown, hidden }) => ({ ...hidden, ...shown, status }) as PartReport)

describe('without credentials', () => {
  test('everybody reads the status of each part and facts of the table, whatever else it says', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), report), report, (parts, lists) => {
        const all: Record<string, PartReport> = { ...parts, node: { status: 'up', lists } }
        const shown = partsShownToAll(all)
        expect(Object.keys(shown)).toEqual(Object.keys(all))
        for (const [name, part] of Object.entries(shown)) {
          expect(part.status).toBe(all[name]?.status)
          for (const fact of Object.keys(part))
            expect(['status', 'lists', ...FACTS]).toContain(fact)
          for (const fact of FACTS) expect(part[fact]).toBe(all[name]?.[fact])
        }
        const hidden = Object.values(all).flatMap((part) =>
          Object.entries(part).filter(([fact]) => !['status', 'lists', ...FACTS].includes(fact)),
        )
        if (hidden.length > 0) expect(JSON.stringify(Object.values(shown))).not.toContain('secret')
      }),
    )
  })

  test('what a standby would screen with is shown by its status', () => {
    const lists = { status: 'down', reason: 'Nothing can be screened', stale: ['ofac'] } as const
    expect(shownToAll({ status: 'down', reason: 'A standby', behind: 3, lists })).toEqual({
      ...{ status: 'down', behind: 3, lists: { status: 'down' } },
    })
  })

  test('a standby without a link shows no reason', () => {
    let body = ''
    const response = new Proxy({} as Record<string, unknown>, {
      get: (_target, name) =>
        name === 'cork'
          ? (work: () => void) => work()
          : (text: unknown) => {
              if (name === 'end') body = String(text)
            },
    })
    const serve = standbyAnswers(() => ({ status: 'down', reason: 'why', standby: true, epoch: 2 }))
    serve(response as never, { getUrl: () => '/readyz' } as never)
    expect(JSON.parse(body).parts).toEqual({
      journal: { status: 'down', standby: true, epoch: 2 },
    })
  })
})

test('the port of the metrics has the reasons', async () => {
  const readiness: Readiness = {
    status: 'not_ready',
    draining: false,
    parts: { disk: { status: 'down', reason: 'Little is left.', free_mib: 3 } },
  }
  const listener = await listenForMetrics({
    ...{ host: '127.0.0.1', port: 0, registry: new Registry(), expositions: [] },
    ...{ readiness: () => readiness, logger: pino({ level: 'silent' }) },
  })
  try {
    const answer = await fetch(`http://127.0.0.1:${listener.port}/readyz`)
    expect([answer.status, await answer.json()]).toEqual([503, readiness])
  } finally {
    listener.close()
  }
})
