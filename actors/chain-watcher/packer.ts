import { Packr } from 'msgpackr'
import type { Packer } from './core/settled-blocks.js'

export const packer: Packer = new Packr({ useRecords: false })
