import { describe, expect, test } from 'vitest'
import { label } from '../../src/api/primitives.js'
import { escapeHtml } from '../../src/domain/escape-html.js'
import { beginBody, declineCallBody } from '../../src/identity-provider/authorizers/wire.js'

/** Right-to-left override, an embedding, an isolate, a separator of lines. */
const MARKS = ['\u202E', '\u202A', '\u2066', '\u2028']
const APPROVAL = 'apr_01M850N601R3V6AK0BD68TCMGG'

describe('marks that show a line as another one', () => {
  test('are in no label of an authorizer, and in no comment', () => {
    for (const mark of MARKS) {
      const text = `Ada${mark}s phone`
      expect(beginBody.safeParse({ kind: 'passkey', label: text }).success).toBe(false)
      const declined = { approval_id: APPROVAL, comment: text }
      expect(declineCallBody.safeParse(declined).success).toBe(false)
    }
    expect(beginBody.safeParse({ kind: 'passkey', label: 'Adas phone — עדה' }).success).toBe(true)
    expect(declineCallBody.safeParse({ approval_id: APPROVAL, comment: '' }).success).toBe(true)
  })

  test('are as little in names as what nobody sees, and a name is not of spaces alone', () => {
    const unseen = ['\u200B', '\u2060', '\uFEFF', '\u00AD', '\u3164', '\u2800']
    const names = [
      ...[...MARKS, ...unseen].flatMap((mark) => [mark, `agent${mark}`]),
      '  ',
      '\u3000',
    ]
    for (const name of names) {
      expect(label.safeParse(name).success, JSON.stringify(name)).toBe(false)
      expect(beginBody.safeParse({ kind: 'passkey', label: name }).success).toBe(false)
    }
    for (const name of ['סוכן', 'می‌خواهم', '👩‍🚀 ❤️', '代理 1', '.']) {
      expect(label.safeParse(name).success, name).toBe(true)
    }
  })

  test('are left out of every page, whoever sent them', () => {
    for (const mark of MARKS) expect(escapeHtml(`<b>${mark}x`)).toBe('&#60;b&#62;x')
    expect(escapeHtml('עדה & Ada')).toBe('עדה &#38; Ada')
  })
})
