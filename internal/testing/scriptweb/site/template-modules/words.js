export const words = ['modules', 'made', 'this']
