import { expect, test } from 'vitest'
import { type Key, policyOfKey } from '../../src/cli/key-policy.js'

const keyWith = (policy: unknown) => ({ key_id: 'key_1', policy }) as Key

test('a policy that cannot be read is not taken for none, with which all is allowed', () => {
  expect(policyOfKey(keyWith(null))).toBeNull()
  expect(policyOfKey(keyWith({ default: 'deny' }))).toMatchObject({ fallback: 'deny' })
  const newer = { default: 'deny', rules: [{ name: 'a', effect: 'deny', when: { moon: 'full' } }] }
  expect(() => policyOfKey(keyWith(newer))).toThrow(/key_1.*rules\[0\]\.when\.moon/)
})
