import Type from 'typebox'
import { CodeField, FlowField } from '../requests.ts'

export const TwoFactorConfirmation = Type.Object({ code: CodeField, flow: FlowField })
export const TwoFactorRemoval = Type.Object({ code: CodeField })
