import { expect, test } from 'vitest'
import { settingChecks } from '../../src/cli/doctor/setting-checks.js'

const NONE = { service: {}, identityProvider: {}, quorumSigner: {} }

test('a setting that nobody reads where it is said is named, with its file', () => {
  const environments = {
    service: { PORT: '1', COUNTERSIGN_RATE_PER_SECONDS: '5', RPC_URL_BASE: 'https://n.test' },
    identityProvider: { IDENTITY_PORT: '2', COUNTERSIGN_WORKERS: '3' },
    quorumSigner: { COUNTERSIGN_SOCKET_GROUP: 'g' },
  }
  expect(settingChecks(environments, false).map(({ status, found }) => [status, found])).toEqual([
    ['warn', 'nobody reads COUNTERSIGN_RATE_PER_SECONDS in service.env'],
    ['warn', 'nobody reads COUNTERSIGN_WORKERS in identity-provider.env'],
  ])
  // In one environment for all, another domain's names are in place.
  const shared = { ...environments.service, ...environments.identityProvider }
  const all = { service: shared, identityProvider: shared, quorumSigner: shared }
  expect(settingChecks(all, true).map(({ found }) => found)).toEqual([
    'nobody reads COUNTERSIGN_RATE_PER_SECONDS',
  ])
  expect(settingChecks(NONE, false)).toEqual([expect.objectContaining({ status: 'ok' })])
})

test('a service with names in public that believes no proxy is named', () => {
  const findingsOf = (service: Readonly<Record<string, string>>) =>
    settingChecks({ ...NONE, service }, false).filter(({ subject }) => subject === 'proxy')
  const inPublic = { COUNTERSIGN_PUBLIC_HOSTS: 'w.example.com' }
  expect(findingsOf(inPublic)).toEqual([expect.objectContaining({ status: 'warn' })])
  expect(findingsOf({ ...inPublic, COUNTERSIGN_TRUSTED_PROXIES: '10.0.0.1' })).toEqual([])
  expect(findingsOf({})).toEqual([])
})
