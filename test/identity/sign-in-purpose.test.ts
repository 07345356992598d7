import { expect, test } from 'vitest'
import { AUTHORIZERS_CLIENT_ID } from '../../src/identity-provider/login/clients.js'
import { purposeOf } from '../../src/identity-provider/login/interactions.js'

const state = (path: string) => Buffer.from(path).toString('base64url')
const own = (path: string) => ({ client_id: AUTHORIZERS_CLIENT_ID, state: state(path) })

test.each([
  ['a call that waits', own('/approve/apr_1'), 'to decide on a call'],
  ['a grant', own('/authorizers/confirm?grant=AA'), 'to confirm what a key may do'],
  ['passkeys', own('/authorizers'), 'to see and change your passkeys'],
  ['a state that is damaged', own('\u0000'), 'to see and change your passkeys'],
  [
    'another client with that state',
    { client_id: 'console', state: state('/approve/apr_1') },
    'to continue to Console',
  ],
])('the sign-in page for %s says what it is for', (_what, params, purpose) => {
  expect(purposeOf(params, 'Console')).toBe(purpose)
})
