import { expect, test } from 'vitest'
import type { Effect } from '../../actors/sub-wallet/core/messages.js'
import type { SubWalletPorts } from '../../actors/sub-wallet/ports.js'
import { createSubWalletShell } from '../../actors/sub-wallet/shell.js'

/** Which effects of a sub-wallet may start before its commits are on disk; each type is named. */
const STARTS_AT_ONCE: Readonly<Record<Effect['type'], boolean>> = {
  screen: true,
  sign: true,
  // A node must never see bytes that a crash could take back.
  broadcast: false,
  replace: false,
  watch: false,
  unwatch: false,
  'give-up': false,
  'read-end': false,
  'value-receipt': false,
  unvalued: false,
  refused: false,
  // A freeze only takes away, and is to be in the commit that it rests on.
  trip: true,
  // What is counted is to be in the commit of what it counts; it holds up nothing.
  watched: true,
  'screen-sponsored': false,
  'sign-intent': false,
  'submit-job': false,
  'rest-job': false,
  // The store tells of it only once it is on disk.
  'tell-recorded': false,
  'cancel-intent': false,
  'check-delegation': false,
  'end-delegation': false,
  'await-deadline': false,
  'key-changed': false,
  // The identity provider must never know of a change that a crash could take back.
  'put-grant': false,
  'rest-grants': false,
  // Nothing waits before it is back, and nobody has been told.
  'ready-approval': true,
  'register-approval': false,
  'rest-approvals': false,
  'forget-approval': false,
  'wake-approvals': false,
}

test('only what a crash may forget starts before the commits of its wallet', () => {
  const shell = createSubWalletShell({} as SubWalletPorts)
  const found = Object.keys(STARTS_AT_ONCE).map((type) => [
    type,
    shell.startsAtOnce?.({ type, draft: {} } as Effect),
  ])
  expect(Object.fromEntries(found)).toEqual(STARTS_AT_ONCE)
})

test('the nonce of an approved call is on disk before the quorum is asked to sign it there', () => {
  const shell = createSubWalletShell({} as SubWalletPorts)
  const approval = { approvalId: 'apr_1', expiresAtMs: 1, maxNativeWei: 1n, proofs: [] }
  const effect = { type: 'sign', draft: { approval }, nonce: 7, replaces: null }
  expect(shell.startsAtOnce?.(effect as unknown as Effect)).toBe(false)
})
