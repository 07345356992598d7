import type { ComponentChildren } from 'preact'
import { type Power, useMay } from './roles.js'

/** What is offered to those alone whose role lets them; any of the powers is enough. */
export function May(shown: { readonly power: Power; readonly children: ComponentChildren }) {
  return useMay(shown.power) ? shown.children : null
}
