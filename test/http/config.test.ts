import { availableParallelism } from 'node:os'
import { describe, expect, test } from 'vitest'
import { readConfig, workersFor } from '../../src/config/env.js'
import { createLogger } from '../../src/config/logging.js'

describe('the environment', () => {
  test('an empty one gives a live service on 127.0.0.1:8080', () => {
    expect(readConfig({})).toEqual({
      config: {
        mode: 'live',
        environment: 'live',
        home: './.countersign',
        host: '127.0.0.1',
        port: 8_080,
        publicHosts: null,
        trustedProxies: [],
        mcpSubKeys: false,
        metricsPort: null,
        otelEndpoint: null,
        identityIssuer: null,
        identityJwksUrl: null,
        logLevel: 'info',
        workers: workersFor(availableParallelism()),
        requestsPerSecond: 200,
        diskFloorBytes: 256 * 1024 * 1024,
        deliveriesPerSecond: 1_000,
        smtpFile: null,
        identityLinkFile: null,
        journalFile: null,
        journalRole: 'owner',
        nodeLinkFile: null,
        journalTailBytes: 256 * 1024 * 1024,
        quotas: { wallets: 10_000, keys: 20_000, webhooks: 100, rules: 1_000 },
        retention: { deliveriesMs: 30 * 24 * 3_600_000, eventsMs: null, auditMs: null },
        gasBudgets: { walletMicros: 250_000_000n, userMicros: 1_000_000_000n },
        undelegateAfterMs: null,
      },
      warnings: [],
    })
  })

  test('hours without a sponsored call may have decimals, and never is the same as none', () => {
    const read = (hours: string) =>
      readConfig({ COUNTERSIGN_UNDELEGATE_HOURS: hours }).config.undelegateAfterMs
    expect([read('24'), read('0.01'), read('never')]).toEqual([86_400_000, 36_000, null])
    for (const wrong of ['0', '-1', '1h', '1e3']) {
      expect(() => read(wrong)).toThrow(/COUNTERSIGN_UNDELEGATE_HOURS/)
    }
  })

  test.each([
    [1, 1],
    [2, 1],
    [4, 1],
    [5, 2],
    [8, 5],
    [64, 16],
  ])('%i cores run %i threads of actors', (cores, workers) => {
    expect(workersFor(cores)).toBe(workers)
  })

  test('dev mode takes test keys', () => {
    expect(readConfig({ COUNTERSIGN_MODE: 'dev' }).config.environment).toBe('test')
  })

  test('every bad variable is named, and no value is repeated', () => {
    const bad = { PORT: '99999', COUNTERSIGN_MODE: 'hunter2', IDENTITY_ISSUER: 'ftp://hunter2' }
    expect(() => readConfig(bad)).toThrow(/PORT[\s\S]*IDENTITY_ISSUER[\s\S]*COUNTERSIGN_MODE/)
    expect(() => readConfig(bad)).not.toThrow(/hunter2/)
  })

  test('an empty variable is an unset one', () => {
    expect(readConfig({ PORT: '' }).config.port).toBe(8_080)
  })

  test('a slip in a name is noticed, with what was meant', () => {
    expect(readConfig({ COUNTERSIGN_WORKER: '4' }).warnings).toEqual([
      'COUNTERSIGN_WORKER is not a variable of this service; did you mean COUNTERSIGN_WORKERS?',
    ])
    expect(readConfig({ COUNTERSIGN_SOMETHING_ELSE: '4' }).warnings[0]).not.toContain('mean')
  })

  test('a setting of an earlier build is named, with what holds now', () => {
    const env = { COUNTERSIGN_RATE_BURST: '4', CONSOLE_AUDIENCE: 'mine', PORT: '1' }
    expect(readConfig(env).warnings.toSorted()).toEqual([
      'CONSOLE_AUDIENCE is no longer a setting: the audience of console tokens is urn:countersign:console',
      'COUNTERSIGN_RATE_BURST is no longer a setting: a burst is five seconds of COUNTERSIGN_RATE_PER_SECOND',
    ])
  })
})

describe('the log', () => {
  test('secrets are redacted wherever a record holds them', () => {
    const lines: string[] = []
    const destination = { write: (line: string) => void lines.push(line) }
    const logger = createLogger({ name: 'service', level: 'info', destination })
    logger.info({
      secret: 'hunter2',
      headers: { 'x-api-key': 'hunter2', authorization: 'hunter2' },
    })
    logger.info({ request: { headers: { 'x-api-key': 'hunter2', cookie: 'hunter2' } } })
    logger.info({ context: { proofKey: 'hunter2' }, attempt: { rawTransaction: 'hunter2' } })
    expect(lines.join('')).not.toContain('hunter2')
    expect(lines.join('')).toContain('[redacted]')
  })
})
