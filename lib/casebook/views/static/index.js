// Filters of the index of runs: as typed, and stated.
(() => {
  const form = document.querySelector('[data-cb-controls]');
  const said = document.querySelector('[data-cb-said]');
  const rows = [...document.querySelectorAll('tbody tr')];
  const apply = () => {
    const find = form.elements.find.value.trim().toLowerCase();
    const { worst, show } = Object.fromEntries(new FormData(form));
    const wanted = row => row.textContent.toLowerCase().includes(find)
      && (!worst || row.dataset.worst === worst)
      && (!show || row.dataset[show] === 'yes');
    rows.forEach(row => { row.hidden = !wanted(row); });
    said.textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length} runs.`;
  };
  form.addEventListener('input', apply);
  form.addEventListener('submit', event => event.preventDefault());
  apply();
})();
