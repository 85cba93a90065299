var o=window.duoviz??={};export{o as a};
//# sourceMappingURL=shared-2QIZZ4MS.js.map
