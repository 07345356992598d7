import { expect, test } from 'vitest'
import { createApp, usualAdapter } from '../../src/http/uws.js'

test('node:http serves when it is asked for, and what fits this Node when nothing is', () => {
  expect(createApp({ adapter: 'node' }).adapter).toBe('node:http')
  expect(createApp().adapter).toBe(usualAdapter())
})

test('the native adapter never gives way to another one when it is asked for', () => {
  const native = () => createApp({ adapter: 'native' }).adapter
  if (usualAdapter() === 'node:http') expect(native).toThrow(/no native build for Node v\d/)
  else expect(native()).toBe('uWebSockets.js')
})
